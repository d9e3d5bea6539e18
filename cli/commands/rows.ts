import { text } from "node:stream/consumers";
import { type Arguments, type Context, command, organizationOptions } from "../command.ts";
import { openOrganization } from "../configuration.ts";
import { databaseOf, databaseOption } from "../database.ts";
import { UsageError } from "../failure.ts";

const options = { database: databaseOption, ...organizationOptions };

async function openTable(args: Arguments<keyof typeof options>, context: Context) {
  const [tableName = ""] = args.operands;
  const { client, orgId, local } = await openOrganization(args, context);
  const dbId = databaseOf(args.text("database"), context.environment, local.databaseId);
  return { client, table: { orgId, dbId, tableName } };
}

/** `slipway rows <table>`: all rows, page after page, or the first ones. */
export const rows = command({
  operands: { shown: "<table>", min: 1, max: 1 },
  options: {
    limit: { type: "string", value: "number", describe: "the maximum number of rows (default: all)" },
    ...options,
  },
  run: async (args, context) => {
    const limit = Number(args.text("limit") ?? Number.POSITIVE_INFINITY);
    if (!(limit >= 1)) throw new UsageError("--limit must be a number of 1 or more.");
    const { client, table } = await openTable(args, context);
    let cursor: string | undefined;
    let left = limit;
    do {
      const page = await client.listRows({ ...table, limit: Math.min(left, 200), cursor });
      for (const row of page.rows) context.terminal.result(JSON.stringify(row));
      left -= page.rows.length;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined && left > 0);
    return 0;
  },
});

/** The values of a row; throws if the text is no JSON object, or has an integer that JavaScript would round. */
function valuesOf(json: string): Record<string, unknown> {
  let values: unknown;
  try {
    values = JSON.parse(json, (name, value: unknown) => {
      if (Number.isInteger(value) && !Number.isSafeInteger(value))
        throw new UsageError(`${name} is an integer that would be rounded. Write it as a string, or as a float.`);
      return value;
    });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // The message of JSON.parse quotes the row.
    throw new UsageError(`A row must be a JSON object, such as '{"text":"hello"}'.`);
  }
  if (typeof values !== "object" || values === null || Array.isArray(values))
    throw new UsageError(`A row must be a JSON object, such as '{"text":"hello"}'.`);
  return { ...values };
}

/** `slipway rows create <table> [row]`: one row, or one for each line of standard input, in their order. */
export const rowsCreate = command({
  details: "Without a row, each line of standard input is one. Prints each row as it was stored.",
  operands: { shown: "<table> [json]", min: 1, max: 2 },
  options,
  run: async (args, context) => {
    const given = args.operands[1];
    const lines = given === undefined ? (await text(context.stdin)).split("\n").filter((line) => line.trim()) : [given];
    const all = lines.map(valuesOf);
    if (all.length === 0) throw new UsageError("No row was given: name one, or write one per line to standard input.");
    const { client, table } = await openTable(args, context);
    for (const row of all) {
      context.signal.throwIfAborted();
      context.terminal.result(JSON.stringify((await client.createRow({ ...table, row })).row));
    }
    return 0;
  },
});

/** `slipway rows get <table> <id>`. */
export const rowsGet = command({
  operands: { shown: "<table> <row id>", min: 2, max: 2 },
  options,
  run: async (args, context) => {
    const [, rowId = ""] = args.operands;
    const { client, table } = await openTable(args, context);
    context.terminal.result(JSON.stringify((await client.getRow({ ...table, rowId })).row));
    return 0;
  },
});

/** `slipway rows update <table> <id> <columns>`: the columns that are not named stay. */
export const rowsUpdate = command({
  operands: { shown: "<table> <row id> <json>", min: 3, max: 3 },
  options,
  run: async (args, context) => {
    const [, rowId = "", json = ""] = args.operands;
    const row = valuesOf(json);
    const { client, table } = await openTable(args, context);
    context.terminal.result(JSON.stringify((await client.updateRow({ ...table, rowId, row })).row));
    return 0;
  },
});

/** `slipway rows delete <table> <id>`. */
export const rowsDelete = command({
  operands: { shown: "<table> <row id>", min: 2, max: 2 },
  options,
  run: async (args, context) => {
    const [, rowId = ""] = args.operands;
    const { client, table } = await openTable(args, context);
    const { row } = await client.deleteRow({ ...table, rowId });
    if (args.flag("json")) context.terminal.result(JSON.stringify({ row }));
    else context.terminal.note(`Deleted row ${row}.`);
    return 0;
  },
});
