import { deleteTable } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { changeTable } from "./model/catalog.ts";
import { changeProblem } from "./model/conflict.ts";
import { dropStatements } from "./model/statements.ts";
import { openDatabase } from "./model/validate.ts";

/** Any version of the table may go. */
const anyVersion = -1;

export const handler = endpoint(deleteTable, async ({ params, access }, { databases }) => {
  const name = params.tableName;
  const { id } = await openDatabase(access, params);
  const acts = dropStatements(id, name);
  const result = await changeTable(databases, { schema: id, name, version: anyVersion, definition: null, acts });
  if (result.state === "missing") throw notFound();
  if (result.state !== "done") throw changeProblem(result, acts);
  return { table: name };
});
