import type { ListedCredentialReply } from "../../../api/credentials.ts";
import type { ProjectKeysRow } from "../../http/model/credentials.ts";

const epochMs = Date.UTC(2026, 0, 1);

/** A guess at the next credential id, right unless two keys are made in one second: ids only grow in a project. */
export function firstCredentialId(now: Date): number {
  return Math.max(1, Math.floor((now.getTime() - epochMs) / 1000));
}

/** A project's app keys without secrets, oldest first. */
export function projectKeysReply(row: ProjectKeysRow): ListedCredentialReply[] {
  return row.keys
    .map(({ lastUsedAt, ...key }) => ({ ...key, expiredAt: null, lastUsedAt: lastUsedAt ?? null }))
    .sort((one, other) => one.id - other.id);
}
