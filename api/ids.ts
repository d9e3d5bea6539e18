export type IdPrefix = "org" | "usr" | "prj" | "bld" | "env" | "sto" | "fil" | "dbs" | "tok" | "evt" | "req";

const idPattern = /^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$/;

/** Whether a text has the form of an id of this kind. If not, nothing with this id exists and no look-up is needed. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return idPattern.test(text) && text.startsWith(`${prefix}_`);
}

/** The 26 characters behind an id's prefix. */
export function idBody(id: string): string {
  return id.slice(4);
}
