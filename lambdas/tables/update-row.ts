import { updateRow } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { lateValidation, validate } from "../http/late-validation.ts";
import { invalid, notFound } from "../http/problem.ts";
import { existingDatabase } from "./model/existing-database.ts";
import { openDatabase } from "./model/open-database.ts";
import { getQuery, updateQuery } from "./model/rows.ts";
import { fetchRow, writeRow } from "./model/stored-rows.ts";
import { rowIdOf } from "./model/validate.ts";
import { assignments, rowValues } from "./model/values.ts";

export const handler = endpoint(
  lateValidation(updateRow),
  async (call, { databases }) => {
    const table = call.params.tableName;
    const session = await openDatabase(call, databases);
    const { schema } = session;
    const id = rowIdOf(call.params.rowId);
    const exists = () => fetchRow(session, table, id);
    const { body } = await validate(updateRow, call, exists);
    const given = rowValues(body.row, call.text);
    const row = await writeRow(session, table, async (definition) => {
      const result = assignments(definition.columns, given, "update");
      if (!("issues" in result)) {
        return result.values.length > 0 ? updateQuery(schema, table, id, result.values) : getQuery(schema, table, id);
      }
      await exists();
      throw invalid(result.issues);
    });
    if (!row) throw notFound();
    return { row };
  },
  existingDatabase,
);
