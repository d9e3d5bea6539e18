import { AwsError } from "../aws/service.ts";
import type { LogStore, LogStream, PlacedEvent } from "./store.ts";

const answerBytesMax = 1024 * 1024;

/** A position in a stream and a direction to read in; the tokens of GetLogEvents contain it. */
export interface Cursor {
  direction: "f" | "b";
  position: number;
}
/** Throws InvalidParameterException for an invalid token. */
export function parseToken(token: string): Cursor {
  const [, direction, position] = /^([fb])\/(\d{1,15})\/s$/.exec(token) ?? [];
  if ((direction !== "f" && direction !== "b") || position === undefined)
    throw new AwsError("InvalidParameterException", "The specified nextToken is invalid.");
  return { direction, position: Number(position) };
}
/** The token of a cursor. */
export const token = ({ direction, position }: Cursor) => `${direction}/${position}/s`;

/** Reads up to `count` events and 1 MiB from a cursor; returns them oldest first, with the positions before and after them. */
export function page(
  store: LogStore,
  stream: LogStream,
  from: Cursor,
  wanted: (event: PlacedEvent) => boolean,
  count: number,
): { events: PlacedEvent[]; start: number; end: number } {
  const forward = from.direction === "f";
  const events: PlacedEvent[] = [];
  let bytes = 0;
  let isCut = false;
  for (const event of store.read(stream, from.direction, from.position)) {
    if (!wanted(event)) continue;
    bytes += event.end - event.position;
    isCut = events.length === count || (events.length > 0 && bytes > answerBytesMax);
    if (isCut) break;
    events.push(event);
  }
  if (forward) {
    const end = isCut ? (events.at(-1)?.end ?? from.position) : Math.max(from.position, stream.end);
    return { events, start: from.position, end };
  }
  const start = isCut ? (events.at(-1)?.position ?? from.position) : Math.min(from.position, stream.start);
  return { events: events.reverse(), start, end: from.position };
}

/** The terms that must all occur: words and quoted phrases. Patterns with operators are refused. */
export function termsOf(pattern: string | undefined): string[] {
  if (!pattern) return [];
  if (/^[{[%]/.test(pattern.trim()) || /(^|\s)[?-]/.test(pattern))
    throw new AwsError("InvalidParameterException", "Invalid filter pattern");
  return [...pattern.matchAll(/"([^"]*)"|(\S+)/g)].map(([, phrase, word]) => phrase ?? word ?? "").filter(Boolean);
}
