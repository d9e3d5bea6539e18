import { createRow } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { lateValidation, validate } from "../http/late-validation.ts";
import { invalid, notFound } from "../http/problem.ts";
import { readTable } from "./model/catalog.ts";
import { existingDatabase } from "./model/existing-database.ts";
import { earlierWork } from "./model/idempotency.ts";
import { openDatabase } from "./model/open-database.ts";
import { getQuery, insertQuery } from "./model/rows.ts";
import { writeRow } from "./model/stored-rows.ts";
import { remember } from "./model/validate.ts";
import { assignments, rowValues } from "./model/values.ts";

export const handler = endpoint(
  lateValidation(createRow),
  async (call, { databases }) => {
    const table = call.params.tableName;
    const session = await openDatabase(call, databases);
    const { body } = await validate(createRow, call, () => readTable(session, table));
    const { idempotencyKey } = call.access;
    const values = rowValues(body.row, call.text);
    const row = await writeRow(session, table, async (definition) => {
      const earlier = idempotencyKey && (await earlierWork(session, idempotencyKey));
      if (earlier) return getQuery(session.schema, table, earlier.rowId ?? 0);
      const result = assignments(definition.columns, values, "create");
      if ("issues" in result) throw invalid(result.issues);
      return insertQuery(session.schema, table, result.values, idempotencyKey);
    });
    // An insert always returns its row, so a missing row was inserted by an earlier request and deleted since.
    if (!row) throw notFound();
    return remember(call.access, { row });
  },
  existingDatabase,
);
