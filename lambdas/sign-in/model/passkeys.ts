import { createHash, randomBytes } from "node:crypto";
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialDescriptorJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import * as z from "zod";
import { limits } from "../../../api/limits.ts";
import { Problem } from "../../http/problem.ts";
import type { ConsoleAddress } from "../../http/tools.ts";
import { absent, entity } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

const passkeySchema = () =>
  z.object({
    id: z.string(),
    userId: z.string(),
    name: z.string(),
    credentialId: z.string(),
    /** COSE key in base64url. */
    publicKey: z.string(),
    counter: z.int(),
    transports: z.array(z.string()),
    createdAt: at(),
    lastUsedAt: at().optional(),
  });
export type PasskeyRow = z.infer<ReturnType<typeof passkeySchema>>;

/** A passkey of a user. Its id is a hash of the credential's id, which can be longer than a key of the table. */
export const Passkey = entity(
  passkeySchema,
  (k: { userId: string; id: string }) => ({ pk: `USR#${k.userId}`, sk: `PKY#${k.id}` }),
  (of: { userId: string }) => ({ pk: `USR#${of.userId}`, prefix: "PKY#" }),
);

const challengeSchema = () =>
  z.object({
    /** Of a user who adds a passkey; absent in a challenge for signing in. */
    userId: z.string().optional(),
    expiresAt: at(),
    ttl: z.int(),
  });

/** A challenge that was given out and not used yet; using it deletes the row. */
export const PasskeyChallenge = entity(challengeSchema, (k: { hash: string }) => ({
  pk: `CHL#${k.hash}`,
  sk: "CHL",
}));

const hashOf = (text: string) => createHash("sha256").update(text).digest("base64url");

/** The id of the passkey with this credential id. */
export const passkeyIdOf = (credentialId: string) => hashOf(credentialId);

/** A new challenge, and the write that makes it valid for five minutes. */
export function newChallenge(userId: string | undefined, now: Date) {
  const challenge = randomBytes(32).toString("base64url");
  const expires = new Date(now.getTime() + limits.passkeyChallengeValidSeconds * 1000);
  const row = { ...(userId && { userId }), expiresAt: expires.toISOString(), ttl: Math.ceil(expires.getTime() / 1000) };
  return { challenge, write: PasskeyChallenge.put({ hash: hashOf(challenge) }, row, { pk: absent }) };
}

const clientData = z.object({ challenge: z.string().max(200) });

/** The challenge that a browser's response answers; `undefined` if the response contains none. */
export function challengeIn(clientDataJson: string): { challenge: string; hash: string } | undefined {
  try {
    const { challenge } = clientData.parse(JSON.parse(Buffer.from(clientDataJson, "base64url").toString("utf8")));
    return { challenge, hash: hashOf(challenge) };
  } catch {
    return undefined;
  }
}

/** Whether a challenge was issued for this user (without a user when signing in) and has not expired. */
export function isOpen(
  row: { userId?: string | undefined; expiresAt: string } | undefined,
  userId: string | undefined,
  now: Date,
) {
  return row !== undefined && row.userId === userId && row.expiresAt > now.toISOString();
}

/** The user has as many passkeys as are allowed (docs/api.md, Sign-in). */
export const tooManyPasskeys = () =>
  new Problem("limit_reached", `A user has at most ${limits.passkeysPerUserMax} passkeys. Delete one first.`);

/** Passkeys belong to the console's host name. */
export const passkeyHost = ({ origin }: ConsoleAddress) => new URL(origin).hostname;

const timeoutMs = limits.passkeyChallengeValidSeconds * 1000;

/** What a browser needs to make a passkey; it may not make a second one on an authenticator that holds one. */
export function creationOptions(
  challenge: string,
  user: { id: string; name: string; email: string },
  existing: readonly PasskeyRow[],
  console: ConsoleAddress,
): PublicKeyCredentialCreationOptionsJSON {
  const exclude = existing.map(
    ({ credentialId }): PublicKeyCredentialDescriptorJSON => ({
      id: credentialId,
      type: "public-key",
    }),
  );
  return {
    challenge,
    rp: { id: passkeyHost(console), name: "Slipway" },
    user: { id: Buffer.from(user.id).toString("base64url"), name: user.email, displayName: user.name },
    // EdDSA, ES256, RS256.
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: "public-key", alg })),
    timeout: timeoutMs,
    attestation: "none",
    excludeCredentials: exclude,
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
  };
}

/** What a browser needs to sign in with a passkey; the user chooses which. */
export function requestOptions(challenge: string, console: ConsoleAddress): PublicKeyCredentialRequestOptionsJSON {
  return { challenge, rpId: passkeyHost(console), timeout: timeoutMs, userVerification: "required" };
}

/** The user whom a passkey names; `undefined` if it names none. */
export function userInHandle(userHandle: string | undefined): string | undefined {
  return userHandle === undefined ? undefined : Buffer.from(userHandle, "base64url").toString("utf8");
}

/** A passkey as the API shows it. */
export function passkeyReply({ id, name, createdAt, lastUsedAt }: PasskeyRow) {
  return { id, name, createdAt, lastUsedAt: lastUsedAt ?? null };
}
