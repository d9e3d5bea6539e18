import * as z from "zod";
import { notFound } from "../http/problem.ts";
import { Organization } from "../organizations/model/rows.ts";
import { Storage } from "../storage/model/rows.ts";
import { absent, present } from "../table/entity.ts";
import { newId, randomText } from "../table/ids.ts";
import { Database } from "../tables/model/database.ts";
import { command, name } from "./command.ts";

const input = z.object({ organizationId: z.string(), name });

/** A database belongs to the organization; its schema is made on first use. */
export const createDatabase = command(input, async ({ organizationId, name: databaseName }, { table, now }) => {
  const database = { id: newId("dbs", now), organizationId, name: databaseName, createdAt: now.toISOString() };
  const outcome = await table.write({
    organization: Organization.check({ id: organizationId }, { pk: present }),
    database: Database.put(database, { ...database, secret: randomText(32) }, { pk: absent }),
  });
  if (!outcome.ok) throw notFound();
  return { database };
});

export const createStorage = command(input, async ({ organizationId, name: storageName }, { table, now }) => {
  const at = now.toISOString();
  const storage = { id: newId("sto", now), name: storageName, status: "active" as const, createdAt: at, updatedAt: at };
  const row = { ...storage, organizationId, secret: randomText(32) };
  const outcome = await table.write({
    organization: Organization.check({ id: organizationId }, { pk: present }),
    storage: Storage.put(row, row, { pk: absent }),
  });
  if (!outcome.ok) throw notFound();
  return { storage: { ...storage, organizationId } };
});
