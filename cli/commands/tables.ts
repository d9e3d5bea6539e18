import { command, organizationOptions } from "../command.ts";
import { openOrganization } from "../configuration.ts";
import { databaseOf, databaseOption } from "../database.ts";
import { columnsText, printable } from "../terminal.ts";

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
