import { createTable } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { changeTable, newInnerName, readTable } from "./model/catalog.ts";
import { changeProblem, tableExists } from "./model/conflict.ts";
import { newColumn, tableReply } from "./model/definition.ts";
import { earlierWork } from "./model/idempotency.ts";
import { claimAct } from "./model/idempotency-statements.ts";
import { createStatements } from "./model/statements.ts";
import { deferred, judge, openDatabase, remember } from "./model/validate.ts";

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
