import type { TokenAccess } from "../../../api/route.ts";
import { Token, TokenOwner } from "../../http/model/credentials.ts";
import { newToken, secretHash } from "../../http/presented-credential.ts";
import { absent } from "../../table/entity.ts";
import { newId } from "../../table/ids.ts";

const dayMs = 24 * 3600 * 1000;
/** How long expired tokens are listed before DynamoDB deletes their rows. */
const keptDays = 30;

export interface WantedToken {
  userId: string;
  description: string;
  access: TokenAccess;
  organizationIds?: readonly string[] | undefined;
  expiresInDays?: number | undefined;
  /** When the token that creates this one expires; absent if it does not. */
  expiresAtMost?: string | undefined;
}

function expiryOf({ expiresInDays, expiresAtMost }: WantedToken, now: Date): string | undefined {
  const own = expiresInDays === undefined ? undefined : new Date(now.getTime() + expiresInDays * dayMs).toISOString();
  if (own === undefined || expiresAtMost === undefined) return own ?? expiresAtMost;
  return own < expiresAtMost ? own : expiresAtMost;
}

/** A new personal access token: its value, which is shown once, and the rows to write. */
export function newTokenOf(wanted: WantedToken, now: Date) {
  const { userId, description, access, organizationIds } = wanted;
  const id = newId("tok", now);
  const value = newToken(userId, id);
  const expiresAt = expiryOf(wanted, now);
  const ttl = expiresAt === undefined ? undefined : Math.ceil((Date.parse(expiresAt) + keptDays * dayMs) / 1000);
  const row = {
    id,
    userId,
    hash: secretHash(value),
    description,
    ...(access !== "all" && { access }),
    ...(organizationIds && { organizationIds: [...organizationIds] }),
    ...(expiresAt && { expiresAt, ttl }),
    createdAt: now.toISOString(),
  };
  return {
    value,
    row,
    writes: {
      token: Token.put(row, row, { pk: absent }),
      owner: TokenOwner.put({ id }, { userId, ttl }, { pk: absent }),
    },
  };
}
