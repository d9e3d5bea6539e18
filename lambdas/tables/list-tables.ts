import { listTables } from "../../api/tables.ts";
import { tableReply } from "../domain/tables/definition.ts";
import { endpoint } from "../kit/endpoint.ts";
import { readTables } from "./catalog.ts";
import { openDatabase } from "./judge.ts";

export const handler = endpoint(listTables, async ({ params, access }, { databases }) => {
  const { id } = await openDatabase(access, params);
  const tables = await readTables(databases, id);
  return { tables: tables.map(({ definition }) => tableReply(definition)) };
});
