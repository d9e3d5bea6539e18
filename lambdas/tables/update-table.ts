import { updateTable } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { lateValidation, validate } from "../http/late-validation.ts";
import { newInnerName, readTable } from "./model/catalog.ts";
import { planChange } from "./model/change.ts";
import { missingColumn } from "./model/change-names.ts";
import { changeTable } from "./model/change-table.ts";
import { changeProblem, columnNotFound, refusalProblem } from "./model/conflict.ts";
import { tableReply } from "./model/definition.ts";
import { existingDatabase } from "./model/existing-database.ts";
import { openDatabase } from "./model/open-database.ts";
import { isContended, retryUntil } from "./model/retry.ts";
import { changeStatements } from "./model/statements.ts";
import { isDestructive, wordsOf } from "./model/steps.ts";

export const handler = endpoint(
  lateValidation(updateTable),
  async (call, { databases }) => {
    const name = call.params.tableName;
    const session = await openDatabase(call, databases);
    const { query, body } = await validate(updateTable, call, async () => {
      const { definition } = await readTable(session, name);
      const missing = missingColumn(definition.columns, call.body);
      if (missing) throw columnNotFound(missing.path);
    });
    const dryRun = query.dryRun === "true";
    const change = async () => {
      const stored = await readTable(session, name);
      const plan = planChange(stored.definition, body, newInnerName);
      if ("refusal" in plan) throw refusalProblem(plan.refusal);
      const { definition, steps } = plan;
      const dry = { plan: steps.flatMap(wordsOf), destructive: isDestructive(steps) };
      const reply = { table: tableReply(definition), ...(dryRun && dry) };
      if (steps.length === 0) return reply;
      const statements = changeStatements(session.schema, name, plan);
      const result = await changeTable(session, { name, version: stored.version, definition, statements, dryRun });
      if (result.state === "done") return reply;
      if (result.state === "refused" && !isContended(result.code)) throw changeProblem(result, statements);
      return undefined;
    };
    const run = () => retryUntil(session.until, change);
    return dryRun ? run() : call.access.around(run);
  },
  existingDatabase,
);
