import { limits } from "../../api/limits.ts";
import { createPasskey } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { userOf } from "../http/presented-credential.ts";
import { invalid, unauthorized, unavailable } from "../http/problem.ts";
import { User } from "../organizations/model/rows.ts";
import { absent, present } from "../table/entity.ts";
import {
  challengeIn,
  isOpen,
  Passkey,
  PasskeyChallenge,
  type PasskeyRow,
  passkeyHost,
  passkeyIdOf,
  passkeyReply,
  tooManyPasskeys,
} from "./model/passkeys.ts";

const refused = () => invalid([{ path: "response", message: "must be the answer to a challenge that is still open" }]);

export const handler = endpoint(createPasskey, async ({ body, access, credential, now }, { table, console }) => {
  const userId = userOf(credential) ?? "none";
  const { response, name } = body;
  const answered = challengeIn(response.response.clientDataJSON);
  const { row, user } = await access.read({
    row: answered && PasskeyChallenge.at({ hash: answered.hash }),
    user: User.at({ id: userId }),
  });
  if (!user) throw unauthorized();
  if (!answered || !isOpen(row, userId, now)) throw refused();
  // Loaded here, because only the two routes that verify a response need it.
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  const verified = await verifyRegistrationResponse({
    response,
    expectedChallenge: answered.challenge,
    expectedOrigin: console.origin,
    expectedRPID: passkeyHost(console),
  }).catch(() => undefined);
  if (!verified?.verified) throw refused();
  // Counted after the user's row was read: a passkey that was added since then has changed that row.
  const existing = await table.list(Passkey.list({ userId }, { limit: limits.passkeysPerUserMax }));
  if (existing.rows.length >= limits.passkeysPerUserMax) throw tooManyPasskeys();
  const { id: credentialId, publicKey, counter } = verified.registrationInfo.credential;
  const passkey: PasskeyRow = {
    id: passkeyIdOf(credentialId),
    userId,
    name,
    credentialId,
    publicKey: Buffer.from(publicKey).toString("base64url"),
    counter,
    transports: response.response.transports ?? [],
    createdAt: now.toISOString(),
  };
  const reply = { passkey: passkeyReply(passkey) };
  const outcome = await access.commit(
    {
      challenge: PasskeyChallenge.delete({ hash: answered.hash }, { pk: present }),
      passkey: Passkey.put(passkey, passkey, { pk: absent }),
      user: User.update(
        { id: userId },
        { add: { passkeyRevision: 1 } },
        { id: userId, passkeyRevision: user.passkeyRevision ?? absent },
      ),
    },
    undefined,
    reply,
  );
  if (!outcome.ok && outcome.failed.user) throw unavailable(new Error("Another passkey was added at the same time"));
  if (!outcome.ok) throw refused();
  return reply;
});
