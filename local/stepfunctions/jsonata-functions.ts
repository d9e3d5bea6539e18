import { createHash, randomUUID } from "node:crypto";
import type jsonata from "jsonata";

const HASHES: Record<string, string> = {
  MD5: "md5",
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512",
};
const RANGE_LENGTH_MAX = 100_000;

/** A wrong argument, shaped as JSONata's own errors are; the text never holds a value. */
class ArgumentError extends Error {
  readonly code = "T0410";
}

function wanted(condition: boolean, text: string): asserts condition {
  if (!condition) throw new ArgumentError(text);
}

function partition(array: unknown, size: unknown): unknown {
  if (array === undefined) return undefined;
  wanted(Array.isArray(array), "$partition expects an array");
  wanted(typeof size === "number" && Number.isInteger(size) && size > 0, "$partition expects a positive size");
  const chunks: unknown[][] = [];
  for (let start = 0; start < array.length; start += size) chunks.push(array.slice(start, start + size));
  return chunks;
}

function range(start: unknown, end: unknown, step: unknown): number[] {
  wanted(typeof start === "number" && typeof end === "number", "$range expects a start and an end");
  wanted(typeof step === "number" && step !== 0, "$range expects a step other than 0");
  const length = Math.max(0, Math.floor((end - start) / step) + 1);
  wanted(length <= RANGE_LENGTH_MAX, "$range is too long");
  return Array.from({ length }, (_, index) => start + index * step);
}

function hash(text: unknown, algorithm: unknown): unknown {
  if (text === undefined) return undefined;
  const name = typeof algorithm === "string" ? HASHES[algorithm] : undefined;
  wanted(typeof text === "string", "$hash expects a string");
  wanted(name !== undefined, `$hash expects one of ${Object.keys(HASHES).join(", ")}`);
  return createHash(name).update(text).digest("hex");
}

/** Mulberry32: the same seed gives the same number, which is all that AWS promises. */
function random(seed: unknown): number {
  if (seed === undefined) return Math.random();
  wanted(typeof seed === "number", "$random expects a number as seed");
  let state = (Math.trunc(seed) + 0x6d2b79f5) | 0;
  state = Math.imul(state ^ (state >>> 15), state | 1);
  state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
  return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32;
}

function parse(text: unknown): unknown {
  if (text === undefined) return undefined;
  wanted(typeof text === "string", "$parse expects a string");
  try {
    return JSON.parse(text);
  } catch {
    throw new ArgumentError("$parse expects JSON");
  }
}

const FUNCTIONS = { partition, range, hash, random, uuid: () => randomUUID(), parse };

/** The names of Step Functions' own JSONata functions, without `$`. */
export const AWS_FUNCTIONS: readonly string[] = Object.keys(FUNCTIONS);

/** Adds Step Functions' own functions to an expression; `$random` replaces JSONata's. */
export function registerAwsFunctions(expression: jsonata.Expression): void {
  for (const [name, run] of Object.entries(FUNCTIONS)) expression.registerFunction(name, run);
}
