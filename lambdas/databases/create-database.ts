import { createDatabase } from "../../api/databases.ts";
import { endpoint } from "../http/endpoint.ts";
import { limitReached } from "../organizations/model/totals.ts";
import { databaseReply, newDatabase } from "../tables/model/databases.ts";

export const handler = endpoint(createDatabase, async ({ params, body, access, now }) => {
  const { row, writes } = newDatabase(params.orgId, body.name, now);
  const reply = { database: databaseReply(row) };
  const outcome = await access.commit(writes, reply);
  if (!outcome.ok) throw limitReached("databases");
  return reply;
});
