import { randomBytes } from "node:crypto";
import type { IdPrefix } from "../../api/ids.ts";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** `length` random characters of Crockford's base 32, five bits each. */
export function randomText(length: number): string {
  let text = "";
  for (const byte of randomBytes(length)) text += alphabet[byte & 31];
  return text;
}

/** `value` in Crockford's base 32, most significant first, so that texts of one length sort as their numbers do. */
export function base32(value: number, length: number): string {
  let text = "";
  let rest = value;
  for (let index = 0; index < length; index += 1) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** A new id: prefix, ten characters of the time in milliseconds, sixteen random ones; sorts by creation (docs/api.md, Requests and answers). */
export function newId(prefix: IdPrefix, now: Date): string {
  return `${prefix}_${base32(now.getTime(), 10)}${randomText(16)}`;
}
