import type { ObjectVersion, Position } from "../store/version-index.ts";

export type ListEntry = { kind: "version"; version: ObjectVersion } | { kind: "prefix"; prefix: string };

export interface Walk {
  prefix: string;
  /** Empty for a list without common prefixes. */
  delimiter: string;
  from: Position;
  max: number;
  fetch: (from: Position, limit: number) => ObjectVersion[];
  /** The position after a row. */
  after: (version: ObjectVersion) => Position;
}

export interface Page {
  entries: ListEntry[];
  /** Where the next page starts; undefined after the last one. */
  next: Position | undefined;
}

const fetchMax = 1000;

/** The position before all versions of a key. */
export function startOf(key: string): Position {
  return { key, below: Number.MAX_SAFE_INTEGER };
}

/** The position after all versions of a key. */
export function endOf(key: string): Position {
  return { key, below: 0 };
}

/** The first position after all keys that start with `prefix`, in code-point order (the UTF-8 order of S3 lists). */
export function afterPrefix(prefix: string): Position | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  return startOf(String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1));
}

/** The part of a key up to the first delimiter after the prefix; one list entry stands for all keys with it. */
export function commonPrefix(key: string, prefix: string, delimiter: string): string | undefined {
  if (delimiter === "") return undefined;
  const at = key.indexOf(delimiter, prefix.length);
  return at < 0 ? undefined : key.slice(0, at + delimiter.length);
}

function* entriesOf(walk: Walk): Generator<{ entry: ListEntry; next: Position | undefined }> {
  const { prefix, delimiter } = walk;
  const pageSize = Math.min(fetchMax, walk.max + 1);
  let from: Position | undefined = walk.from;
  while (from) {
    const rows: ObjectVersion[] = walk.fetch(from, pageSize);
    from = undefined;
    for (const version of rows) {
      if (!version.key.startsWith(prefix)) return;
      const group = commonPrefix(version.key, prefix, delimiter);
      if (group !== undefined) {
        from = afterPrefix(group);
        yield { entry: { kind: "prefix", prefix: group }, next: from };
        break;
      }
      yield { entry: { kind: "version", version }, next: walk.after(version) };
      if (version === rows.at(-1) && rows.length === pageSize) from = walk.after(version);
    }
  }
}

/** One page of a list; a common prefix counts as one entry. */
export function listPage(walk: Walk): Page {
  const entries: ListEntry[] = [];
  let next: Position | undefined;
  if (walk.max === 0) return { entries, next };
  for (const step of entriesOf(walk)) {
    if (entries.length === walk.max) return { entries, next };
    entries.push(step.entry);
    next = step.next;
  }
  return { entries, next: undefined };
}
