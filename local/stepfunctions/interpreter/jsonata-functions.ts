import { createHash, randomUUID } from "node:crypto";
import type jsonata from "jsonata";

const HASHES: Record<string, string> = {
  MD5: "md5",
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512",
};
const RANGE_LENGTH_MAX = 200_000;

/** An invalid argument, in the format of JSONata's errors; the message contains no value. */
class ArgumentError extends Error {
  readonly code = "T0410";
}

function requireArgument(condition: boolean, text: string): asserts condition {
  if (!condition) throw new ArgumentError(text);
}

function partition(array: unknown, size: unknown): unknown {
  if (array === undefined) return undefined;
  requireArgument(Array.isArray(array), "$partition expects an array");
  requireArgument(typeof size === "number" && Number.isInteger(size) && size > 0, "$partition expects a positive size");
  const chunks: unknown[][] = [];
  for (let start = 0; start < array.length; start += size) chunks.push(array.slice(start, start + size));
  return chunks;
}

/** As on AWS, bounds are truncated to integers and the result is a JSONata sequence (one element becomes the element itself, none undefined). */
function range(...bounds: unknown[]): number[] {
  const [start = Number.NaN, end = Number.NaN, step = Number.NaN] = bounds.map((bound) => {
    requireArgument(typeof bound === "number", "$range expects a start, an end and a step");
    return Math.trunc(bound);
  });
  requireArgument(bounds.length === 3, "$range expects a start, an end and a step");
  const length = step === 0 ? 0 : Math.max(0, Math.floor((end - start) / step) + 1);
  requireArgument(length <= RANGE_LENGTH_MAX, "$range is too long");
  const values = Array.from({ length }, (_, index) => start + index * step);
  // JSONata recognizes its sequences by this property.
  return Object.defineProperty(values, "sequence", { enumerable: false, value: true });
}

function hash(text: unknown, algorithm: unknown): unknown {
  if (text === undefined) return undefined;
  const name = typeof algorithm === "string" ? HASHES[algorithm] : undefined;
  requireArgument(typeof text === "string", "$hash expects a string");
  requireArgument(name !== undefined, `$hash expects one of ${Object.keys(HASHES).join(", ")}`);
  return createHash(name).update(text).digest("hex");
}

/** The number that AWS returns for a seed: the result of Java's `new Random(seed).nextDouble()`. */
function random(seed: unknown): number {
  if (seed === undefined) return Math.random();
  requireArgument(typeof seed === "number" && Number.isFinite(seed), "$random expects a number as seed");
  const multiplier = 0x5deece66dn;
  let state = BigInt.asUintN(48, BigInt(Math.trunc(seed)) ^ multiplier);
  const next = (bits: bigint) => {
    state = BigInt.asUintN(48, state * multiplier + 0xbn);
    return state >> (48n - bits);
  };
  return Number((next(26n) << 27n) + next(27n)) / 2 ** 53;
}

function parse(text: unknown): unknown {
  if (text === undefined) return undefined;
  requireArgument(typeof text === "string", "$parse expects a string");
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
