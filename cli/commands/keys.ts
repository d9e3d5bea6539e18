import { command, serviceOptions } from "../command.ts";
import { openTarget } from "../configuration.ts";
import { UsageError } from "../failure.ts";
import { columnsText, printable } from "../terminal.ts";

/** `slipway keys list`: the project's app keys, without secrets. */
export const keysList = command({
  options: serviceOptions,
  run: async (args, context) => {
    const { client, project } = await openTarget(args, context);
    const { credentials } = await client.listCredentials(project);
    if (args.flag("json")) context.terminal.result(JSON.stringify({ credentials }));
    const rows = credentials.map(({ id, access, lastUsedAt, description }) => [
      String(id),
      access,
      lastUsedAt === null ? "never used" : `used ${lastUsedAt}`,
      printable(description),
    ]);
    if (!args.flag("json")) for (const line of columnsText(rows)) context.terminal.result(line);
    return 0;
  },
});

/** `slipway keys create`: the only command that prints a secret, because the service shows it only once. */
export const keysCreate = command({
  options: {
    description: { type: "string", value: "text", describe: "what the key is for" },
    ...serviceOptions,
  },
  run: async (args, context) => {
    const { client, project } = await openTarget(args, context);
    const { credential } = await client.createCredential({ ...project, description: args.text("description") });
    const { terminal } = context;
    if (args.flag("json")) {
      terminal.result(JSON.stringify({ credential }));
      return 0;
    }
    terminal.note(`Key ${credential.id}. The secret is not shown again.`);
    terminal.result(`SERVICE_ACCESS_KEY=${credential.access}`);
    terminal.result(`SERVICE_SECRET_KEY=${credential.secret ?? ""}`);
    return 0;
  },
});

/** `slipway keys delete <id>`: revoked from the next request on. */
export const keysDelete = command({
  operands: { shown: "<key-id>", min: 1, max: 1 },
  options: serviceOptions,
  run: async (args, context) => {
    const [credentialId = ""] = args.operands;
    if (!/^\d+$/.test(credentialId))
      throw new UsageError(`Invalid key id ${JSON.stringify(credentialId)}. List the keys with: slipway keys list.`);
    const { client, project } = await openTarget(args, context);
    const reply = await client.deleteCredential({ ...project, credentialId });
    if (args.flag("json")) context.terminal.result(JSON.stringify(reply));
    else context.terminal.note(`Revoked key ${reply.credential}.`);
    return 0;
  },
});
