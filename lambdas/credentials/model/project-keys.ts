import type { ListedCredentialReply } from "../../../api/credentials.ts";
import type { ProjectKeysRow } from "../../http/model/credentials.ts";

const epochMs = Date.UTC(2026, 0, 1);

/** The first credential id to try: seconds since 2026, so ids grow in a project. It is taken if two keys are created in one second. */
export function firstCredentialId(now: Date): number {
  return Math.max(1, Math.floor((now.getTime() - epochMs) / 1000));
}

/** A project's app keys without secrets, oldest first. */
export function projectKeysReply(row: ProjectKeysRow): ListedCredentialReply[] {
  return row.keys
    .map(({ lastUsedAt, ...key }) => ({ ...key, expiredAt: null, lastUsedAt: lastUsedAt ?? null }))
    .sort((one, other) => one.id - other.id);
}
