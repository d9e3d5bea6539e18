import { createTable } from "../../api/tables.ts";
import { newColumn, tableReply } from "../domain/tables/definition.ts";
import { createStatements } from "../domain/tables/statements.ts";
import { endpoint } from "../kit/endpoint.ts";
import { changeTable, newInnerName } from "./catalog.ts";
import { changeProblem, tableExists } from "./conflict.ts";
import { deferred, judge, openDatabase, remember } from "./judge.ts";

export const handler = endpoint(deferred(createTable), async (call, { databases }) => {
  const { id } = await openDatabase(call.access, call.params);
  const { body } = await judge(createTable, call);
  const columns = body.columns.map((input) => newColumn(input, newInnerName));
  const definition = { name: body.name, comment: body.comment, columns };
  const acts = createStatements(id, definition, newInnerName);
  const result = await changeTable(databases, { schema: id, name: body.name, version: 0, definition, acts });
  if (result.state === "exists") throw tableExists(body.name);
  if (result.state !== "done") throw changeProblem(result, acts);
  return remember(call, { table: tableReply(definition) });
});
