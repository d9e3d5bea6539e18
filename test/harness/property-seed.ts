import { randomInt } from "node:crypto";

const variable = "PROPERTY_SEED";
const usual = 20_261_001;

/** The seed of all property tests: always the same one, or that of the environment variable, a number. */
export function propertySeed(text = process.env[variable] ?? String(usual)): number {
  if (!/^-?\d{1,10}$/.test(text))
    throw new Error(`${variable} must be a number or "random", not ${JSON.stringify(text)}.`);
  return Number(text);
}

/** Replaces "random" by a number, for all processes that this one starts, and prints it. */
export function chooseSeed(): void {
  if (process.env[variable] !== "random") return;
  process.env[variable] = String(randomInt(2 ** 31));
  process.stdout.write(`${variable}=${process.env[variable]} repeats the random values of this run.\n`);
}
