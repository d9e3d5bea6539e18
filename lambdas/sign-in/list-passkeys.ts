import { limits } from "../../api/limits.ts";
import { listPasskeys } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { userOf } from "../http/presented-credential.ts";
import { Passkey, passkeyReply } from "./model/passkeys.ts";

export const handler = endpoint(listPasskeys, async ({ access, credential }, { table }) => {
  const userId = userOf(credential) ?? "none";
  const [, passkeys] = await Promise.all([
    access.read(),
    // Earlier versions let requests at the same time pass the limit by a few.
    table.list(Passkey.list({ userId }, { limit: 2 * limits.passkeysPerUserMax })),
  ]);
  const newestFirst = passkeys.rows.sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  return { passkeys: newestFirst.map(passkeyReply) };
});
