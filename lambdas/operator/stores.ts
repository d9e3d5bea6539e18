import * as z from "zod";
import { resourceName } from "../../api/common.ts";
import { notFound } from "../http/problem.ts";
import { Organization } from "../organizations/model/rows.ts";
import { limitReached } from "../organizations/model/totals.ts";
import { newStorage, storageReply } from "../storage/model/storages.ts";
import { present } from "../table/entity.ts";
import { databaseReply, newDatabase } from "../tables/model/databases.ts";
import { command } from "./command.ts";

const input = z.object({ organizationId: z.string(), name: resourceName() });

/** A database belongs to the organization; its schema is made on first use. */
export const createDatabase = command(input, async ({ organizationId, name }, { commit, now }) => {
  const { row, writes } = newDatabase(organizationId, name, now);
  const organization = Organization.check({ id: organizationId }, { pk: present });
  const ids = { databaseId: row.id };
  const outcome = await commit({ ownerId: organizationId, ids }, { organization, ...writes });
  if (!outcome.ok) throw outcome.failed.organization ? notFound() : limitReached("databases");
  return { database: { ...databaseReply(row), organizationId } };
});

export const createStorage = command(input, async ({ organizationId, name }, { commit, now }) => {
  const { row, writes } = newStorage(organizationId, name, now);
  const organization = Organization.check({ id: organizationId }, { pk: present });
  const ids = { storageId: row.id };
  const outcome = await commit({ ownerId: organizationId, ids }, { organization, ...writes });
  if (!outcome.ok) throw outcome.failed.organization ? notFound() : limitReached("storages");
  return { storage: { ...storageReply(row), organizationId } };
});
