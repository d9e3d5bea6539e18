import { tokenAccesses } from "../../api/route.ts";
import { command, serviceOptions } from "../command.ts";
import { openService } from "../configuration.ts";
import { UsageError } from "../failure.ts";
import { showDone, showRows } from "../show.ts";
import { printable } from "../terminal.ts";

const { url, profile, json } = serviceOptions;
const options = { url, profile, json };

/** `slipway tokens list`: the user's personal access tokens, without their values. */
export const tokensList = command({
  options,
  run: async (args, context) => {
    const reply = await openService(args, context, "user").client.listTokens();
    const rows = reply.tokens.map((token) => [
      token.id,
      token.access,
      token.expiresAt === null ? "no expiry" : `until ${token.expiresAt}`,
      token.lastUsedAt === null ? "never used" : `used ${token.lastUsedAt}`,
      printable(token.description),
    ]);
    return showRows(args, context, reply, rows);
  },
});

/** `slipway tokens create`: prints the value, which the service shows only once. */
export const tokensCreate = command({
  options: {
    description: { type: "string", value: "text", describe: "what the token is for" },
    access: { type: "string", value: "what", describe: "read, deploy or all (default: all)" },
    organizations: { type: "string", value: "ids", describe: "only for these organizations, with commas between" },
    "expires-in-days": { type: "string", value: "days", describe: "1 to 365 (default: it does not expire)" },
    ...options,
  },
  run: async (args, context) => {
    const access = tokenAccesses.find((one) => one === (args.text("access") ?? "all"));
    if (access === undefined) throw new UsageError(`--access must be one of ${tokenAccesses.join(", ")}.`);
    const days = args.text("expires-in-days");
    if (days !== undefined && !/^[1-9]\d{0,2}$/.test(days))
      throw new UsageError("--expires-in-days must be a number from 1 to 365.");
    const reply = await openService(args, context, "user").client.createToken({
      access,
      description: args.text("description"),
      organizationIds: args.text("organizations")?.split(",").filter(Boolean),
      expiresInDays: days === undefined ? undefined : Number(days),
    });
    const { id, value } = reply.token;
    return showDone(args, context, reply, `Token ${id}. Its value is not shown again:`, value);
  },
});

/** `slipway tokens delete <id>`. */
export const tokensDelete = command({
  operands: { shown: "<token-id>", min: 1, max: 1 },
  options,
  run: async (args, context) => {
    const [tokenId = ""] = args.operands;
    const reply = await openService(args, context, "user").client.deleteToken({ tokenId });
    return showDone(args, context, reply, `Deleted the token ${reply.token}.`);
  },
});
