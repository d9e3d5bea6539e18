import { isId } from "../../api/ids.ts";
import { deleteToken } from "../../api/me.ts";
import { endpoint } from "../http/endpoint.ts";
import { Token, TokenOwner } from "../http/model/credentials.ts";
import { userOf } from "../http/presented-credential.ts";
import { notFound } from "../http/problem.ts";
import { present } from "../table/entity.ts";
import { isWithin } from "./model/replies.ts";

const tokenAt = (userId: string, tokenId: string) => Token.at({ userId, id: isId("tok", tokenId) ? tokenId : "none" });

/** Also a token's own end; then the next request with it is a 401. */
export const handler = endpoint(
  deleteToken,
  async ({ params, access, credential }) => {
    const userId = userOf(credential) ?? "none";
    const { token } = await access.read({ token: tokenAt(userId, params.tokenId) });
    const caller = access.caller();
    const only = caller.kind === "user" ? caller.bounds.organizationIds : undefined;
    if (!token || !isWithin(token, only)) throw notFound();
    const { id } = token;
    const outcome = await access.commit({
      token: Token.delete({ userId, id }, { pk: present }),
      owner: TokenOwner.delete({ id }),
    });
    if (!outcome.ok) throw notFound();
    return { token: id };
  },
  {
    exists: ({ tokenId }, userId) => ({ token: userId === undefined ? undefined : tokenAt(userId, tokenId) }),
  },
);
