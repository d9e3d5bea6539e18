import { listDatabases } from "../../api/databases.ts";
import { isId } from "../../api/ids.ts";
import { endpoint } from "../http/endpoint.ts";
import { DatabaseEntry } from "../tables/model/database.ts";
import { databaseReply } from "../tables/model/databases.ts";

/** More than any organization has; the list has no pages (docs/api.md, Databases). */
const databasesMax = 1_000;

export const handler = endpoint(listDatabases, async ({ params, access }, { table }) => {
  const organizationId = isId("org", params.orgId) ? params.orgId : "none";
  const [, page] = await Promise.all([
    access.read(),
    table.list(DatabaseEntry.list({ organizationId }, { limit: databasesMax })),
  ]);
  return { databases: page.rows.map(databaseReply) };
});
