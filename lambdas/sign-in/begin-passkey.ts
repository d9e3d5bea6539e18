import { limits } from "../../api/limits.ts";
import { beginPasskey } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { userOf } from "../http/presented-credential.ts";
import { unauthorized, unavailable } from "../http/problem.ts";
import { User } from "../organizations/model/rows.ts";
import { creationOptions, newChallenge, Passkey, tooManyPasskeys } from "./model/passkeys.ts";

export const handler = endpoint(beginPasskey, async ({ access, credential, now }, { table, console }) => {
  const userId = userOf(credential) ?? "none";
  const [{ user }, passkeys] = await Promise.all([
    access.read({ user: User.at({ id: userId }) }),
    table.list(Passkey.list({ userId }, { limit: limits.passkeysPerUserMax })),
  ]);
  if (!user) throw unauthorized();
  if (passkeys.rows.length >= limits.passkeysPerUserMax) throw tooManyPasskeys();
  const { challenge, write } = newChallenge(userId, now);
  const outcome = await access.commit({ challenge: write });
  if (!outcome.ok) throw unavailable(new Error("A new challenge was refused"));
  return { options: { ...creationOptions(challenge, user, passkeys.rows, console) } };
});
