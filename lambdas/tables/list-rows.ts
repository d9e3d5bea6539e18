import { listRows } from "../../api/tables.ts";
import { claimedPosition, isGenuine, sealCursor } from "../http/cursor.ts";
import { endpoint } from "../http/endpoint.ts";
import { invalid } from "../http/problem.ts";
import { readTable } from "./model/catalog.ts";
import { listStatement } from "./model/rows.ts";
import { fetchRows } from "./model/stored-rows.ts";
import { deferred, judge, openDatabase } from "./model/validate.ts";

export const handler = endpoint(deferred(listRows), async (call, { databases }) => {
  const { tableName } = call.params;
  const { id, secret } = await openDatabase(call.access, call.params);
  const exists = () => readTable(databases, id, tableName);
  const { query } = await judge(listRows, call, exists);
  const list = `rows:${id}:${tableName}`;
  if (query.cursor !== undefined && !isGenuine(secret, list, query.cursor)) {
    await exists();
    throw invalid([{ path: "cursor", message: "must be a cursor that this list gave out" }]);
  }
  const after = query.cursor === undefined ? 0 : Number(claimedPosition(query.cursor));
  const { rows, found } = await fetchRows(databases, listStatement(id, tableName, after, query.limit + 1));
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return { rows: page, nextCursor: last && found > page.length ? sealCursor(secret, list, String(last.id)) : null };
});
