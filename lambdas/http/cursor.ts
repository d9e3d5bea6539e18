import { createHmac, timingSafeEqual } from "node:crypto";

const tagLength = 16;

function tagOf(secret: string, list: string, position: string): string {
  return createHmac("sha256", secret).update(`${list}\n${position}`).digest("base64url").slice(0, tagLength);
}

/** Seals a position in a list into an opaque cursor that only this list accepts. */
export function sealCursor(secret: string, list: string, position: string): string {
  return Buffer.from(tagOf(secret, list, position) + position).toString("base64url");
}

/** The position a cursor claims, not yet verified: lets a list be read while the secret is still being fetched. */
export function claimedPosition(cursor: string): string {
  return Buffer.from(cursor, "base64url").toString("utf8").slice(tagLength);
}

/** Whether the cursor is from this list. */
export function isGenuine(secret: string, list: string, cursor: string): boolean {
  const position = claimedPosition(cursor);
  const given = Buffer.from(cursor);
  const expected = Buffer.from(sealCursor(secret, list, position));
  return given.length === expected.length && timingSafeEqual(given, expected);
}
