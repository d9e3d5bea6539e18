import { listTables } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { readTables } from "./model/catalog.ts";
import { tableReply } from "./model/definition.ts";
import { existingDatabase } from "./model/existing-database.ts";
import { openDatabase } from "./model/open-database.ts";

export const handler = endpoint(
  listTables,
  async (call, { databases }) => {
    const tables = await readTables(await openDatabase(call, databases));
    return { tables: tables.map(({ definition }) => tableReply(definition)) };
  },
  existingDatabase,
);
