import { getRow } from "../../api/tables.ts";
import { endpoint } from "../kit/endpoint.ts";
import { openDatabase, rowIdOf } from "./judge.ts";
import { fetchRow } from "./stored-rows.ts";

export const handler = endpoint(getRow, async ({ params, access }, { databases }) => {
  const { id } = await openDatabase(access, params);
  return { row: await fetchRow(databases, id, params.tableName, rowIdOf(params.rowId)) };
});
