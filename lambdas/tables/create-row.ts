import { createRow } from "../../api/tables.ts";
import { insertStatement } from "../domain/tables/rows.ts";
import { assignments } from "../domain/tables/values.ts";
import { endpoint } from "../kit/endpoint.ts";
import { invalid } from "../kit/problem.ts";
import { readTable } from "./catalog.ts";
import { deferred, judge, openDatabase, remember } from "./judge.ts";
import { writeRow } from "./stored-rows.ts";

export const handler = endpoint(deferred(createRow), async (call, { databases }) => {
  const table = call.params.tableName;
  const { id: schema } = await openDatabase(call.access, call.params);
  const { body } = await judge(createRow, call, () => readTable(databases, schema, table));
  const row = await writeRow(databases, { schema, table }, (definition) => {
    const result = assignments(definition.columns, body.row, "create");
    if ("issues" in result) throw invalid(result.issues);
    return insertStatement(schema, table, result.values);
  });
  if (!row) throw new Error("An insert gave no row");
  return remember(call, { row });
});
