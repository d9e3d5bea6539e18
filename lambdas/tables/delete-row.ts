import { deleteRow } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { existingDatabase } from "./model/existing-database.ts";
import { openDatabase } from "./model/open-database.ts";
import { deleteQuery } from "./model/rows.ts";
import { queryTable } from "./model/stored-rows.ts";
import { rowIdOf } from "./model/validate.ts";

export const handler = endpoint(
  deleteRow,
  async (call, { databases }) => {
    const session = await openDatabase(call, databases);
    const id = rowIdOf(call.params.rowId);
    const deleted = await queryTable(session, deleteQuery(session.schema, call.params.tableName, id));
    if (deleted.length === 0) throw notFound();
    return { row: id };
  },
  existingDatabase,
);
