import { updateTable } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound, unavailable } from "../http/problem.ts";
import { changeTable, newInnerName, readTable } from "./model/catalog.ts";
import { planChange } from "./model/change.ts";
import { changeProblem, refusalProblem } from "./model/conflict.ts";
import { tableReply } from "./model/definition.ts";
import { ownStates } from "./model/setup.ts";
import { changeStatements } from "./model/statements.ts";
import { isDestructive, wordsOf } from "./model/steps.ts";
import { deferred, judge, openDatabase } from "./model/validate.ts";

const triesMax = 5;

export const handler = endpoint(deferred(updateTable), async (call, { databases }) => {
  const name = call.params.tableName;
  const { id } = await openDatabase(call.access, call.params);
  const { query, body } = await judge(updateTable, call, () => readTable(databases, id, name));
  const dryRun = query.dryRun === "true";
  for (let tries = 0; tries < triesMax; tries += 1) {
    const stored = await readTable(databases, id, name);
    const plan = planChange(stored.definition, body, newInnerName);
    if ("refusal" in plan) throw refusalProblem(plan.refusal);
    const { definition, steps } = plan;
    const dry = { plan: steps.flatMap(wordsOf), destructive: isDestructive(steps) };
    const reply = { table: tableReply(definition), ...(dryRun && dry) };
    if (steps.length === 0) return reply;
    const acts = changeStatements(id, name, steps);
    const change = { schema: id, name, version: stored.version, definition, acts, dryRun };
    const result = await changeTable(databases, change);
    if (result.state === "done") return reply;
    if (dryRun && result.state === "refused" && result.code === ownStates.dryRun) return reply;
    if (result.state === "missing") throw notFound();
    if (result.state === "refused") throw changeProblem(result, acts);
  }
  throw unavailable(new Error("The table kept changing"));
});
