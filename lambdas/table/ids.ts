import { randomBytes } from "node:crypto";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

export type IdPrefix = "org" | "usr" | "prj" | "bld" | "env" | "sto" | "fil" | "dbs" | "tok" | "req";

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

/** A new id: prefix, ten characters of the time in milliseconds, sixteen random ones; sorts by creation (CONTRACT §1). */
export function newId(prefix: IdPrefix, now: Date): string {
  return `${prefix}_${base32(now.getTime(), 10)}${randomText(16)}`;
}

const idPattern = /^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$/;

/** Whether a text has the form of an id of this kind; one that has not cannot exist and costs no look-up. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return idPattern.test(text) && text.startsWith(`${prefix}_`);
}

/** The 26 characters behind an id's prefix. */
export function idBody(id: string): string {
  return id.slice(4);
}
