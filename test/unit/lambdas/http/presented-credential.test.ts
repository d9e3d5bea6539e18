import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { describe, expect, it, test } from "vitest";
import {
  newKeyPair,
  newSession,
  newToken,
  type PresentedCredential,
  readCredential,
  sameHash,
  secretHash,
} from "../../../../lambdas/http/presented-credential.ts";
import { base32 } from "../../../../lambdas/table/ids.ts";
import { fc } from "../../../harness/fast-check.ts";

const body = (letter: string) => letter.repeat(26);
const organizationId = `org_${body("0")}`;
const userId = `usr_${body("1")}`;
const tokenId = `tok_${body("2")}`;

const { access, secret } = newKeyPair(organizationId);
const token = newToken(userId, tokenId);
const session = newSession(organizationId, { access });
const projectId = `prj_${body("3")}`;
const ofApp = newSession(organizationId, { projectId });

const bearer = (text: string) => readCredential({ authorization: `Bearer ${text}` });
const sealed = (text: string) => text + base32(crc32(text), 7);
const hash = (text: string) => createHash("sha256").update(text).digest("base64url");

const key: PresentedCredential = { kind: "key", access, organizationId, hash: hash(secret) };
const asToken: PresentedCredential = { kind: "token", userId, tokenId, hash: hash(token) };

describe("a new credential", () => {
  it("has its kind's prefix and form, and is never the same twice", () => {
    expect(access).toMatch(/^slk_0{26}[0-9a-z]{17}$/);
    expect(secret).toMatch(/^sls_[0-9a-z]{47}$/);
    expect(token).toMatch(/^slp_1{26}2{26}[0-9a-z]{39}$/);
    expect(session.token).toMatch(/^slt_0{26}[0-9a-z]{65}$/);
    expect(ofApp.token).toMatch(/^slt_0{26}[0-9a-z]{16}3{26}[0-9a-z]{39}$/);
    expect(session.sessionId).toMatch(/^[0-9a-z]{16}$/);
    expect(newKeyPair(organizationId).secret).not.toBe(secret);
    expect(newToken(userId, tokenId)).not.toBe(token);
    expect(newSession(organizationId, { access }).sessionId).not.toBe(session.sessionId);
  });

  it("ends in a checksum of the rest, in seven characters", () => {
    for (const text of [access, secret, token, session.token]) expect(sealed(text.slice(0, -7))).toBe(text);
  });
});

describe("the credential of a request", () => {
  it("is a key in one header or in two, a token or a session", () => {
    expect(bearer(`${access}:${secret}`)).toEqual(key);
    expect(readCredential({ "x-access-key": ` ${access} `, "x-secret-key": ` ${secret}\t` })).toEqual(key);
    expect(bearer(token)).toEqual(asToken);
    expect(bearer(session.token)).toEqual({
      kind: "session",
      organizationId,
      sessionId: session.sessionId,
      origin: { access },
      hash: hash(session.token),
    });
    expect(bearer(ofApp.token)).toEqual({
      kind: "session",
      organizationId,
      sessionId: ofApp.sessionId,
      origin: { projectId },
      hash: hash(ofApp.token),
    });
  });

  test.each([`bearer ${token}`, `BEARER  ${token}`, `Bearer ${token}  `])(
    "may be written with other case and more space: %#",
    (authorization) => {
      expect(readCredential({ authorization })).toEqual(asToken);
    },
  );

  test.each([
    "",
    "Bearer",
    "Bearer ",
    `Bearer${token}`,
    ` Bearer ${token}`,
    `xBearer ${token}`,
    `Basic ${token}`,
    token,
    `Bearer ${token} x`,
    `Bearer ${token.slice(0, 30)} ${token.slice(30)}`,
    `Bearer x${token}`,
    `Bearer ${token}x`,
  ])("is none in a malformed Authorization, even when the older headers hold a key: %#", (authorization) => {
    expect(readCredential({ authorization, "x-access-key": access, "x-secret-key": secret })).toBeUndefined();
  });

  it("is none when a header is missing, or when there is none", () => {
    expect(readCredential({})).toBeUndefined();
    expect(readCredential({ "x-access-key": access })).toBeUndefined();
    expect(readCredential({ "x-secret-key": secret })).toBeUndefined();
  });

  const other = newKeyPair(organizationId);
  test.each([
    ["a secret in the access key's place", `${secret}:${secret}`],
    ["an access key in the secret's place", `${access}:${access}`],
    ["a token in the secret's place", `${access}:${token}`],
    ["no secret", `${access}:`],
    ["no access key", `:${secret}`],
    ["an access key alone", access],
    ["a secret alone", secret],
    ["two colons", `${access}::${secret}`],
    ["something before it", `x${access}:${secret}`],
    ["something behind it", `${access}:${secret}x`],
    ["capitals", `${access.toUpperCase()}:${secret}`],
    ["a longer access key with a right checksum", `${sealed(`x${access.slice(0, -7)}`)}:${secret}`],
    ["a longer secret with a right checksum", `${access}:${sealed(`${secret.slice(0, -7)}0`)}`],
    ["a prefix before a secret with a right checksum", `${access}:${sealed(`x${secret.slice(0, -7)}`)}`],
    ["a longer token with a right checksum", sealed(`${token.slice(0, -7)}0`)],
    ["a prefix before a token with a right checksum", sealed(`x${token.slice(0, -7)}`)],
    ["a longer session with a right checksum", sealed(`${session.token.slice(0, -7)}0`)],
    ["a prefix before a session with a right checksum", sealed(`x${session.token.slice(0, -7)}`)],
    ["far too much", `${"s".repeat(100_000)}`],
  ])("is none: %s", (_, text) => {
    expect(bearer(text)).toBeUndefined();
    expect(bearer(`${other.access}:${other.secret}`)?.kind).toBe("key");
  });

  it("is none after any typing error", () => {
    const texts = [`${access}:${secret}`, token, session.token];
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.nat(200), fc.constantFrom(..."0a9z:_"), (text, at, letter) => {
        const place = at % text.length;
        fc.pre(text[place] !== letter);
        expect(bearer(text.slice(0, place) + letter + text.slice(place + 1))).toBeUndefined();
        expect(bearer(text.slice(0, place) + text.slice(place + 1))).toBeUndefined();
      }),
    );
  });
});

describe("a secret's hash", () => {
  it("is SHA-256 in base64url, and compares by all of it", () => {
    expect(secretHash("abc")).toBe("ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
    expect(sameHash(secretHash("a"), secretHash("a"))).toBe(true);
    expect(sameHash(secretHash("a"), secretHash("b"))).toBe(false);
    expect(sameHash("abc", "abcd")).toBe(false);
    expect(sameHash("abd", "abc")).toBe(false);
    expect(sameHash("", "")).toBe(true);
  });
});
