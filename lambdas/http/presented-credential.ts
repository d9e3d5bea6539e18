import { createHash, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import { idBody } from "../../api/ids.ts";
import { base32, randomText } from "../table/ids.ts";

/**
 * Keys and tokens begin with a searchable prefix and end in a checksum (docs/api.md, Authentication). The key of their row
 * is part of the text, so that one read fetches it together with the request's other rows.
 */
const forms = {
  access: /^slk_([0-9a-z]{26})[0-9a-z]{10}[0-9a-z]{7}$/,
  secret: /^sls_[0-9a-z]{40}[0-9a-z]{7}$/,
  token: /^slp_([0-9a-z]{26})([0-9a-z]{26})[0-9a-z]{32}[0-9a-z]{7}$/,
  keySession: /^slt_([0-9a-z]{26})([0-9a-z]{16})([0-9a-z]{10})[0-9a-z]{32}[0-9a-z]{7}$/,
  appSession: /^slt_([0-9a-z]{26})([0-9a-z]{16})([0-9a-z]{26})[0-9a-z]{32}[0-9a-z]{7}$/,
  console: /^slw_([0-9a-z]{26})([0-9a-z]{16})[0-9a-z]{52}[0-9a-z]{7}$/,
  bearer: /^slb_([0-9a-z]{26})([0-9a-z]{16})([0-9a-z]{16})[0-9a-z]{32}[0-9a-z]{7}$/,
} as const;
type KeyKind = keyof typeof forms;

function sealed(text: string): string {
  return text + base32(crc32(text), 7);
}

function unsealed(kind: KeyKind, text: string): RegExpExecArray | null {
  if (text.length > 200) return null;
  const match = forms[kind].exec(text);
  return match && sealed(text.slice(0, -7)) === text ? match : null;
}

/** A new access key of an organization and its secret. */
export function newKeyPair(organizationId: string): { access: string; secret: string } {
  return { access: accessOf(organizationId, randomText(10)), secret: sealed(`sls_${randomText(40)}`) };
}

/** A new personal access token. The ids of the user and the token, which are its row's key, are part of it. */
export function newToken(userId: string, tokenId: string): string {
  return sealed(`slp_${idBody(userId)}${idBody(tokenId)}${randomText(32)}`);
}

/** What a session was made for: a key, or the app of a project. */
export type SessionOrigin = { access: string } | { projectId: string };

const accessRandomAt = 30;

function accessOf(organizationId: string, random: string): string {
  return sealed(`slk_${idBody(organizationId)}${random}`);
}

/** A new session token, and the id of its row. The token tells its origin, which the events of its requests name. */
export function newSession(organizationId: string, origin: SessionOrigin): { sessionId: string; token: string } {
  const sessionId = randomText(16);
  const from = "access" in origin ? origin.access.slice(accessRandomAt, accessRandomAt + 10) : idBody(origin.projectId);
  return { sessionId, token: sealed(`slt_${idBody(organizationId)}${sessionId}${from}${randomText(32)}`) };
}

/** A new code of a one-time sign-in link: 260 random bits. */
export function newSignInCode(): string {
  return sealed(`sll_${randomText(52)}`);
}

/** A new code with which a tool gets a token: 260 random bits. */
export function newConnectionCode(): string {
  return sealed(`slc_${randomText(52)}`);
}

/** A new secret of the console's cookie, and the id of its session. */
export function newConsoleSecret(userId: string): { sessionId: string; secret: string } {
  const sessionId = randomText(16);
  return { sessionId, secret: sealed(`slw_${idBody(userId)}${sessionId}${randomText(52)}`) };
}

/** The session named by a cookie's secret, not yet verified; `undefined` if the secret is missing or malformed. */
export function readConsoleSecret(secret: string | undefined) {
  const [, user, sessionId] = (secret && unsealed("console", secret)) || [];
  if (!secret || !user || !sessionId) return undefined;
  return { userId: `usr_${user}`, sessionId, hash: secretHash(secret) };
}

/** A new bearer token of a console session, and its id. */
export function consoleBearer(userId: string, sessionId: string): { bearerId: string; token: string } {
  const bearerId = randomText(16);
  return { bearerId, token: sealed(`slb_${idBody(userId)}${sessionId}${bearerId}${randomText(32)}`) };
}

/** SHA-256 of a secret in base64url: the only form in which a secret is stored. */
export function secretHash(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}

/** Compares two hashes of secrets in constant time. */
export function sameHash(one: string, other: string): boolean {
  const a = Buffer.from(one);
  const b = Buffer.from(other);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A credential as a request presents it, well-formed but not yet proved. */
export type PresentedCredential =
  | { kind: "key"; access: string; organizationId: string; hash: string }
  | { kind: "token"; userId: string; tokenId: string; hash: string }
  | { kind: "console"; userId: string; sessionId: string; bearerId: string; hash: string }
  | { kind: "session"; organizationId: string; sessionId: string; origin: SessionOrigin; hash: string };

/** The user that a credential stands for; keys and sessions of apps are of an organization. */
export function userOf(credential: PresentedCredential): string | undefined {
  return "userId" in credential ? credential.userId : undefined;
}

function keyCredential(access: string, secret: string): PresentedCredential | undefined {
  const match = unsealed("access", access);
  if (!match || !unsealed("secret", secret)) return undefined;
  return { kind: "key", access, organizationId: `org_${match[1]}`, hash: secretHash(secret) };
}

function consoleCredential(bearer: string): PresentedCredential | undefined {
  const [, user, sessionId, bearerId] = unsealed("bearer", bearer) ?? [];
  if (!user || !sessionId || !bearerId) return undefined;
  return { kind: "console", userId: `usr_${user}`, sessionId, bearerId, hash: secretHash(bearer) };
}

function sessionCredential(bearer: string): PresentedCredential | undefined {
  const ofKey = unsealed("keySession", bearer);
  const [, body = "", sessionId = "", from = ""] = ofKey ?? unsealed("appSession", bearer) ?? [];
  if (sessionId === "") return undefined;
  const organizationId = `org_${body}`;
  const origin = ofKey ? { access: accessOf(organizationId, from) } : { projectId: `prj_${from}` };
  return { kind: "session", organizationId, sessionId, origin, hash: secretHash(bearer) };
}

function bearerCredential(bearer: string): PresentedCredential | undefined {
  const colon = bearer.indexOf(":");
  if (colon >= 0) return keyCredential(bearer.slice(0, colon), bearer.slice(colon + 1));
  const token = unsealed("token", bearer);
  if (token) return { kind: "token", userId: `usr_${token[1]}`, tokenId: `tok_${token[2]}`, hash: secretHash(bearer) };
  return consoleCredential(bearer) ?? sessionCredential(bearer);
}

/**
 * Reads the credential of a request from its headers (names in lower case): `Authorization: Bearer …` wins over
 * `X-Access-Key` and `X-Secret-Key` (docs/api.md, Authentication). `undefined` if it is missing or malformed.
 */
export function readCredential(headers: Readonly<Record<string, string | undefined>>): PresentedCredential | undefined {
  if (headers.authorization !== undefined) {
    const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization)?.[1];
    return bearer === undefined ? undefined : bearerCredential(bearer);
  }
  const access = headers["x-access-key"];
  const secret = headers["x-secret-key"];
  return access === undefined || secret === undefined ? undefined : keyCredential(access.trim(), secret.trim());
}
