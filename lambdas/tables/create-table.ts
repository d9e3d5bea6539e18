import { createTable } from "../../api/tables.ts";
import { endpoint } from "../http/endpoint.ts";
import { lateValidation, validate } from "../http/late-validation.ts";
import { newInnerName, readTable } from "./model/catalog.ts";
import { changeTable } from "./model/change-table.ts";
import { changeProblem, tableExists } from "./model/conflict.ts";
import { newColumn, tableReply } from "./model/definition.ts";
import { existingDatabase } from "./model/existing-database.ts";
import { earlierWork } from "./model/idempotency.ts";
import { recordChange } from "./model/idempotency-statements.ts";
import { openDatabase } from "./model/open-database.ts";
import { isContended, retryUntil } from "./model/retry.ts";
import { createStatements } from "./model/statements.ts";
import { remember } from "./model/validate.ts";

export const handler = endpoint(
  lateValidation(createTable),
  async (call, { databases }) => {
    const { access } = call;
    const session = await openDatabase(call, databases);
    const { body } = await validate(createTable, call);
    const { idempotencyKey: key } = access;
    const columns = body.columns.map((input) => newColumn(input, newInnerName));
    const definition = { name: body.name, comment: body.comment, columns };
    const creating = createStatements(session.schema, definition, newInnerName);
    const statements = [...creating, ...(key ? [recordChange(session.schema, key)] : [])];
    const change = { name: body.name, version: 0, definition, statements };

    const isDone = async () => key !== undefined && (await earlierWork(session, key)) !== undefined;
    const madeEarlier = async () => (await readTable(session, body.name)).definition;
    const create = () =>
      retryUntil(session.until, async () => {
        if (await isDone()) return madeEarlier();
        const result = await changeTable(session, change);
        if (result.state === "done") return definition;
        if (result.state === "refused" && isContended(result.code)) return undefined;
        if (await isDone()) return madeEarlier();
        throw result.state === "refused" ? changeProblem(result, statements) : tableExists(body.name);
      });
    const made = await access.around(create, { tableName: body.name });
    return remember(access, { table: tableReply(made) });
  },
  existingDatabase,
);
