import { listTokens } from "../../api/me.ts";
import { endpoint } from "../http/endpoint.ts";
import { Token } from "../http/model/credentials.ts";
import { userOf } from "../http/presented-credential.ts";
import { isWithin, tokenReply } from "./model/replies.ts";

/** More than any user has; the list has no pages (docs/api.md, Personal access tokens). */
const tokensMax = 1000;

export const handler = endpoint(listTokens, async ({ access, credential }, { table }) => {
  const userId = userOf(credential) ?? "none";
  const [, page] = await Promise.all([
    access.read(),
    table.list(Token.list({ userId }, { limit: tokensMax, newestFirst: true })),
  ]);
  const caller = access.caller();
  const only = caller.kind === "user" ? caller.bounds.organizationIds : undefined;
  return { tokens: page.rows.filter((row) => isWithin(row, only)).map(tokenReply) };
});
