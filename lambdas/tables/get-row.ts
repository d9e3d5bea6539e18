import { getRow } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { existingDatabase } from "./model/existing-database.ts";
import { openDatabase } from "./model/open-database.ts";
import { fetchRow } from "./model/stored-rows.ts";
import { rowIdOf } from "./model/validate.ts";

export const handler = endpoint(
  getRow,
  async (call, { databases }) => {
    const session = await openDatabase(call, databases);
    return { row: await fetchRow(session, call.params.tableName, rowIdOf(call.params.rowId)) };
  },
  existingDatabase,
);
