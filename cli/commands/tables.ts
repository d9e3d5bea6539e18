import { command, organizationOptions } from "../command.ts";
import { openOrganization } from "../configuration.ts";
import { Failure, UsageError } from "../failure.ts";
import { columnsText, printable } from "../terminal.ts";

const databaseOption = { type: "string", value: "id", describe: "the database (SLIPWAY_DATABASE)" } as const;

function databaseOf(
  text: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  local: string | undefined,
): string {
  const dbId = text ?? (environment.SLIPWAY_DATABASE || local);
  if (!dbId) throw new Failure("No database is selected. Use --database <id>, or set SLIPWAY_DATABASE.");
  return dbId;
}

/** `slipway tables`: names, columns and their types. */
export const tables = command({
  options: { database: databaseOption, ...organizationOptions },
  run: async (args, context) => {
    const { client, orgId, local } = await openOrganization(args, context);
    const dbId = databaseOf(args.text("database"), context.environment, local.databaseId);
    const reply = await client.listTables({ orgId, dbId });
    if (args.flag("json")) context.terminal.result(JSON.stringify(reply));
    const lines = reply.tables.map(({ name, columns }) => [
      name,
      columns.map((one) => `${one.name} ${one.type}`).join(", "),
    ]);
    if (!args.flag("json")) for (const line of columnsText(lines)) context.terminal.result(printable(line));
    return 0;
  },
});

/** `slipway rows <table>`: all rows, page after page, or the first ones. */
export const rows = command({
  operands: { shown: "<table>", min: 1, max: 1 },
  options: {
    database: databaseOption,
    limit: { type: "string", value: "number", describe: "the maximum number of rows (default: all)" },
    ...organizationOptions,
  },
  run: async (args, context) => {
    const [tableName = ""] = args.operands;
    const limit = Number(args.text("limit") ?? Number.POSITIVE_INFINITY);
    if (!(limit >= 1)) throw new UsageError("--limit must be a number of 1 or more.");
    const { client, orgId, local } = await openOrganization(args, context);
    const dbId = databaseOf(args.text("database"), context.environment, local.databaseId);
    let cursor: string | undefined;
    let left = limit;
    do {
      const page = await client.listRows({ orgId, dbId, tableName, limit: Math.min(left, 200), cursor });
      for (const row of page.rows) context.terminal.result(JSON.stringify(row));
      left -= page.rows.length;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined && left > 0);
    return 0;
  },
});
