import { deleteTable } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { anyVersion, changeTable } from "./model/change-table.ts";
import { changeProblem } from "./model/conflict.ts";
import { existingDatabase } from "./model/existing-database.ts";
import { openDatabase } from "./model/open-database.ts";
import { isContended, retryUntil } from "./model/retry.ts";
import { dropStatements } from "./model/statements.ts";

export const handler = endpoint(
  deleteTable,
  async (call, { databases }) => {
    const name = call.params.tableName;
    const session = await openDatabase(call, databases);
    const statements = dropStatements(session.schema, name);
    const change = async () => {
      const result = await changeTable(session, { name, version: anyVersion, definition: null, statements });
      if (result.state === "missing") throw notFound();
      if (result.state !== "refused") return { table: name };
      if (!isContended(result.code)) throw changeProblem(result, statements);
      return undefined;
    };
    return call.access.around(() => retryUntil(session.until, change));
  },
  existingDatabase,
);
