import { updateRow } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { invalid, notFound } from "../http/problem.ts";
import { getStatement, updateStatement } from "./model/rows.ts";
import { fetchRow, writeRow } from "./model/stored-rows.ts";
import { deferred, judge, openDatabase, rowIdOf } from "./model/validate.ts";
import { assignments } from "./model/values.ts";

export const handler = endpoint(deferred(updateRow), async (call, { databases }) => {
  const table = call.params.tableName;
  const { id: schema } = await openDatabase(call.access, call.params);
  const id = rowIdOf(call.params.rowId);
  const exists = () => fetchRow(databases, schema, table, id);
  const { body } = await judge(updateRow, call, exists);
  const row = await writeRow(databases, { schema, table }, async (definition) => {
    const result = assignments(definition.columns, body.row, "update");
    if (!("issues" in result)) {
      return result.values.length > 0
        ? updateStatement(schema, table, id, result.values)
        : getStatement(schema, table, id);
    }
    await exists();
    throw invalid(result.issues);
  });
  if (!row) throw notFound();
  return { row };
});
