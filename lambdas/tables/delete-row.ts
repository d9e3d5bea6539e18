import { deleteRow } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { runOnTable } from "./model/catalog.ts";
import { deleteStatement } from "./model/rows.ts";
import { openDatabase, rowIdOf } from "./model/validate.ts";

export const handler = endpoint(deleteRow, async ({ params, access }, { databases }) => {
  const { id: schema } = await openDatabase(access, params);
  const id = rowIdOf(params.rowId);
  const rows = await runOnTable(databases, deleteStatement(schema, params.tableName, id));
  if (rows.length === 0) throw notFound();
  return { row: id };
});
