import type { TokenReply } from "../../../api/me.ts";
import type { Token } from "../../http/model/credentials.ts";

type TokenRow = ReturnType<typeof Token.read>;

/** A token without its value. */
export function tokenReply(row: TokenRow): TokenReply {
  const { id, description, access, organizationIds, createdAt, expiresAt, lastUsedAt } = row;
  return {
    id,
    description,
    access: access ?? "all",
    organizationIds: organizationIds ?? null,
    createdAt,
    expiresAt: expiresAt ?? null,
    lastUsedAt: lastUsedAt ?? null,
  };
}

/** Whether a token that is limited to these organizations may see and revoke another: only one without further access. */
export function isWithin(row: TokenRow, organizationIds: readonly string[] | undefined): boolean {
  if (organizationIds === undefined) return true;
  return row.organizationIds?.every((id) => organizationIds.includes(id)) ?? false;
}
