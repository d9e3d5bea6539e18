import { deleteTable } from "../../api/tables.ts";
import { dropStatements } from "../domain/tables/statements.ts";
import { endpoint } from "../kit/endpoint.ts";
import { notFound } from "../kit/problem.ts";
import { changeTable } from "./catalog.ts";
import { changeProblem } from "./conflict.ts";
import { openDatabase } from "./judge.ts";

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
