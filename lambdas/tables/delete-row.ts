import { deleteRow } from "../../api/tables.ts";
import { deleteStatement } from "../domain/tables/rows.ts";
import { endpoint } from "../kit/endpoint.ts";
import { notFound } from "../kit/problem.ts";
import { runOnTable } from "./catalog.ts";
import { openDatabase, rowIdOf } from "./judge.ts";

export const handler = endpoint(deleteRow, async ({ params, access }, { databases }) => {
  const { id: schema } = await openDatabase(access, params);
  const id = rowIdOf(params.rowId);
  const rows = await runOnTable(databases, deleteStatement(schema, params.tableName, id));
  if (rows.length === 0) throw notFound();
  return { row: id };
});
