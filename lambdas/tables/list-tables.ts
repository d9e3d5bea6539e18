import { listTables } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { readTables } from "./model/catalog.ts";
import { tableReply } from "./model/definition.ts";
import { openDatabase } from "./model/validate.ts";

export const handler = endpoint(listTables, async ({ params, access }, { databases }) => {
  const { id } = await openDatabase(access, params);
  const tables = await readTables(databases, id);
  return { tables: tables.map(({ definition }) => tableReply(definition)) };
});
