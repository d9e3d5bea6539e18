import { present } from "../table/entity.ts";
import type { RowUpdater } from "../table/updater.ts";
import { AccessKey, ProjectKeys, Token } from "./model/credentials.ts";
import type { PresentedCredential } from "./presented-credential.ts";

/** The minute that was last recorded for each key and token, so that a busy key costs one update a minute. */
const recordedMinutes = new Map<string, string>();
const namesMax = 10_000;

/** Updates lastUsedAt of a key or token, to the minute. The request does not wait for this, and does not fail if it fails. */
export function recordUse(keyUses: RowUpdater, credential: PresentedCredential, now: Date): void {
  if (credential.kind === "session" || credential.kind === "console") return;
  const minute = new Date(Math.floor(now.getTime() / 60_000) * 60_000).toISOString();
  const name = credential.kind === "key" ? credential.access : credential.tokenId;
  if (recordedMinutes.get(name) === minute) return;
  if (recordedMinutes.size > namesMax) recordedMinutes.clear();
  recordedMinutes.set(name, minute);
  const recording =
    credential.kind === "key"
      ? recordKeyUse(keyUses, credential.access, credential.hash, minute)
      : keyUses.updateBestEffort(
          Token.update({ userId: credential.userId, id: name }, ...later(credential.hash, minute)),
        );
  recording.catch(() => undefined);
}

const later = (hash: string, minute: string) =>
  [{ set: { lastUsedAt: minute } }, { hash, lastUsedAt: { is: "absentOrBelow", value: minute } }] as const;

/** The list of a project's app keys has its own copy of lastUsedAt. */
async function recordKeyUse(keyUses: RowUpdater, access: string, hash: string, minute: string): Promise<void> {
  const key = await keyUses.updateBestEffort(AccessKey.update({ access }, ...later(hash, minute)));
  if (!key?.manual) return;
  const entry = `key_${key.credentialId}`;
  const set = { [`${entry}.lastUsedAt`]: minute };
  // A function that Lambda has frozen between the two updates continues when others have recorded later minutes.
  const condition = { [entry]: present, [`${entry}.lastUsedAt`]: { is: "absentOrBelow", value: minute } as const };
  await keyUses.updateBestEffort(ProjectKeys.update({ projectId: key.projectId }, { set }, condition));
}
