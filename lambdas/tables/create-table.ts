import { createTable } from "../../api/tables.ts";
import { claimAct } from "../domain/tables/claims.ts";
import { newColumn, tableReply } from "../domain/tables/definition.ts";
import { createStatements } from "../domain/tables/statements.ts";
import { endpoint } from "../kit/endpoint.ts";
import { changeTable, newInnerName, readTable } from "./catalog.ts";
import { earlierWork } from "./claims.ts";
import { changeProblem, tableExists } from "./conflict.ts";
import { deferred, judge, openDatabase, remember } from "./judge.ts";

export const handler = endpoint(deferred(createTable), async (call, { databases }) => {
  const { access } = call;
  const { id } = await openDatabase(access, call.params);
  const { body } = await judge(createTable, call);
  const { once } = access;
  const isDone = async () => once !== undefined && (await earlierWork(databases, id, once)) !== undefined;
  const madeEarlier = async () => {
    const { definition } = await readTable(databases, id, body.name);
    return remember(access, { table: tableReply(definition) });
  };
  if (await isDone()) return madeEarlier();
  const columns = body.columns.map((input) => newColumn(input, newInnerName));
  const definition = { name: body.name, comment: body.comment, columns };
  const acts = [...createStatements(id, definition, newInnerName), ...(once ? [claimAct(id, once)] : [])];
  const result = await changeTable(databases, { schema: id, name: body.name, version: 0, definition, acts });
  if (result.state === "done") return remember(access, { table: tableReply(definition) });
  if (await isDone()) return madeEarlier();
  throw result.state === "exists" ? tableExists(body.name) : changeProblem(result, acts);
});
