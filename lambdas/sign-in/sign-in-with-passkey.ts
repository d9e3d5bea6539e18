import { isId } from "../../api/ids.ts";
import { signInWithPasskey } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { unauthorized } from "../http/problem.ts";
import { User } from "../organizations/model/rows.ts";
import { present } from "../table/entity.ts";
import { newConsoleSession } from "./model/console-session.ts";
import { refuseForeignOrigin, sessionCookie } from "./model/cookie.ts";
import {
  challengeIn,
  isOpen,
  Passkey,
  PasskeyChallenge,
  passkeyHost,
  passkeyIdOf,
  userInHandle,
} from "./model/passkeys.ts";

/** Every failure is the same 401. The challenge is deleted with the sign-in, so that a response is good once. */
export const handler = endpoint(
  signInWithPasskey,
  async ({ body: { response }, headers, now, setCookie }, { table, console }) => {
    refuseForeignOrigin(headers);
    const answered = challengeIn(response.response.clientDataJSON);
    const userId = userInHandle(response.response.userHandle);
    if (!answered || userId === undefined || !isId("usr", userId)) throw unauthorized();
    const id = passkeyIdOf(response.id);
    const { row, passkey, user } = await table.read({
      row: PasskeyChallenge.at({ hash: answered.hash }),
      passkey: Passkey.at({ userId, id }),
      user: User.at({ id: userId }),
    });
    if (!passkey || !user || !isOpen(row, undefined, now)) throw unauthorized();
    // Loaded here, because only the two routes that verify a response need it.
    const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
    const publicKey = new Uint8Array(Buffer.from(passkey.publicKey, "base64url"));
    const verified = await verifyAuthenticationResponse({
      response,
      expectedChallenge: answered.challenge,
      expectedOrigin: console.origin,
      expectedRPID: passkeyHost(console),
      credential: { id: passkey.credentialId, publicKey, counter: passkey.counter },
    }).catch(() => undefined);
    if (!verified?.verified) throw unauthorized();
    const session = newConsoleSession(user, signInWithPasskey.id, headers["user-agent"], now);
    const counter = verified.authenticationInfo.newCounter;
    const outcome = await table.write({
      challenge: PasskeyChallenge.delete({ hash: answered.hash }, { pk: present }),
      passkey: Passkey.update(
        { userId, id },
        { set: { counter, lastUsedAt: now.toISOString() } },
        { counter: passkey.counter },
      ),
      ...session.writes,
    });
    if (!outcome.ok) throw unauthorized();
    setCookie(sessionCookie(session.secret, session.row.expiresAt, now, console));
    return session.reply;
  },
);
