import { getRow } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { fetchRow } from "./model/stored-rows.ts";
import { openDatabase, rowIdOf } from "./model/validate.ts";

export const handler = endpoint(getRow, async ({ params, access }, { databases }) => {
  const { id } = await openDatabase(access, params);
  return { row: await fetchRow(databases, id, params.tableName, rowIdOf(params.rowId)) };
});
