import { listRows } from "../../api/tables.ts";
import { claimedPosition, isGenuine, sealCursor } from "../http/cursor.ts";
import { endpoint } from "../http/endpoint.ts";
import { lateValidation, validate } from "../http/late-validation.ts";
import { invalid } from "../http/problem.ts";
import { readTable } from "./model/catalog.ts";
import { existingDatabase } from "./model/existing-database.ts";
import { openDatabase } from "./model/open-database.ts";
import { listQuery } from "./model/rows.ts";
import { fetchRows } from "./model/stored-rows.ts";

const positionPattern = /^\d{1,16}$/;

export const handler = endpoint(
  lateValidation(listRows),
  async (call, { databases }) => {
    const { tableName } = call.params;
    const session = await openDatabase(call, databases);
    const { query } = await validate(listRows, call, () => readTable(session, tableName));
    const { cursor, limit } = query;
    const position = cursor === undefined ? "0" : claimedPosition(cursor);
    const after = positionPattern.test(position) ? Number(position) : 0;
    const { table, rows, found } = await fetchRows(session, listQuery(session.schema, tableName, after, limit + 1));
    // The table's number distinguishes it from an earlier table with the same name.
    const list = `rows:${session.schema}:${table}`;
    if (cursor !== undefined && !isGenuine(session.secret, list, cursor)) {
      throw invalid([{ path: "cursor", message: "must be a cursor that this list returned" }]);
    }
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const more = last !== undefined && found > page.length;
    return { rows: page, nextCursor: more ? sealCursor(session.secret, list, String(last.id)) : null };
  },
  existingDatabase,
);
