import { createPasskey } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { userOf } from "../http/presented-credential.ts";
import { invalid } from "../http/problem.ts";
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
} from "./model/passkeys.ts";

const refused = () => invalid([{ path: "response", message: "must be the answer to a challenge that is still open" }]);

export const handler = endpoint(createPasskey, async ({ body, access, credential, now }, { console }) => {
  const userId = userOf(credential) ?? "none";
  const { response, name } = body;
  const answered = challengeIn(response.response.clientDataJSON);
  const { row } = await access.read({ row: answered && PasskeyChallenge.at({ hash: answered.hash }) });
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
    },
    undefined,
    reply,
  );
  if (!outcome.ok) throw refused();
  return reply;
});
