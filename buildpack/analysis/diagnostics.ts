import { inspect } from "node:util";
import type { App } from "./app.ts";
import type { AnalysisErrorCode, Runtime, Suggestion } from "./plan.ts";

/** The suggestions and warnings of a detection, in the order in which they were found. */
export interface Diagnostics {
  warnings: string[];
  suggestions: Suggestion[];
  /** Set as soon as it is known, so that a later error can report it. */
  runtime: Runtime | null;
}

export const noDiagnostics = (): Diagnostics => ({ warnings: [], suggestions: [], runtime: null });

/** Adds advice on a line of a file of the app; `line` starts at 1. */
export function suggest(
  diagnostics: Diagnostics,
  app: App,
  advice: { code: string; message: string; file: string; line?: number },
): void {
  diagnostics.suggestions.push({
    code: advice.code,
    message: oneLine(advice.message),
    file: app.shown(advice.file),
    line: Math.max(1, advice.line ?? 1),
  });
}

/** Thrown when no plan can be made for an archive; `analyze` returns it as the outcome's error. */
export class NoPlan extends Error {
  readonly code: AnalysisErrorCode;
  /** The runtime, if it was detected before the error. */
  runtime: Runtime | null = null;
  /** The path in the archive of the file that caused the error, if a single file did. */
  readonly entry: string | undefined;
  constructor(code: AnalysisErrorCode, message: string, entry?: string) {
    super(oneLine(message));
    this.name = "NoPlan";
    this.code = code;
    this.entry = entry;
  }
}

/** Puts a sentence on one line: names in an archive may contain line breaks, control characters and bidirectional marks. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, " ");

/** Quotes text of an archive for a message: one line, at most 80 characters. */
export function quoted(value: unknown): string {
  // JSON.stringify would overflow the stack on a value nested ten thousand levels deep.
  const text = (typeof value === "string" ? value : inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY }))
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const points = [...text.slice(0, 400)];
  return `"${points.length > 80 ? `${points.slice(0, 79).join("")}…` : points.join("")}"`;
}

/** "a, b and 3 more". */
export function listed(items: readonly string[], max = 8): string {
  const shown = items.slice(0, max);
  const rest = items.length - shown.length;
  if (rest > 0) return `${shown.join(", ")} and ${rest} more`;
  const last = shown.pop();
  if (last === undefined) return "";
  return shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
}

/** The line of the first match in a text, from 1; 1 when there is none. */
export function lineOf(text: string | undefined, pattern: RegExp | string): number {
  if (text === undefined) return 1;
  const index = typeof pattern === "string" ? text.indexOf(pattern) : text.search(pattern);
  return index === -1 ? 1 : lineAt(text, index);
}

/** The line of an offset in a text, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** The line of a key of a JSON text, its parents named first; 1 when it cannot be found. */
export function lineOfKey(text: string | undefined, keys: readonly string[]): number {
  if (text === undefined) return 1;
  let at = 0;
  for (const key of keys) {
    const found = text.slice(at).search(new RegExp(`"${escapeRegExp(key)}"\\s*:`));
    if (found === -1) return 1;
    at += found;
    if (key !== keys.at(-1)) at += key.length + 2;
  }
  return lineAt(text, at);
}

/** Escapes a text so that a regular expression matches it literally. */
export const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
