import { createRow } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { invalid, notFound } from "../http/problem.ts";
import { readTable } from "./model/catalog.ts";
import { earlierWork } from "./model/idempotency.ts";
import { getStatement, insertStatement } from "./model/rows.ts";
import { writeRow } from "./model/stored-rows.ts";
import { deferred, judge, openDatabase, remember } from "./model/validate.ts";
import { assignments } from "./model/values.ts";

export const handler = endpoint(deferred(createRow), async (call, { databases }) => {
  const table = call.params.tableName;
  const { id: schema } = await openDatabase(call.access, call.params);
  const { body } = await judge(createRow, call, () => readTable(databases, schema, table));
  const { once } = call.access;
  const row = await writeRow(databases, { schema, table }, async (definition) => {
    const earlier = once && (await earlierWork(databases, schema, once));
    if (earlier) return getStatement(schema, table, earlier.rowId ?? 0);
    const result = assignments(definition.columns, body.row, "create");
    if ("issues" in result) throw invalid(result.issues);
    return insertStatement(schema, table, result.values, once);
  });
  // An insert gives its row: this is an earlier one's, deleted since.
  if (!row) throw notFound();
  return remember(call.access, { row });
});
