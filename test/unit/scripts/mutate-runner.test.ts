import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../../../scripts/mutate/copy-of-project.ts";
import { instrument, type Mutant } from "../../../scripts/mutate/instrument.ts";
import { TestFile } from "../../../scripts/mutate/test-file.ts";

const code = `
export function isAdult(age: number): boolean { return age >= 18; }
export function next(count: number): number { return count + 1; }
let used = 0;
export function first(): boolean { used += 1; return used === 1; }
const greeting = /^(hello|hi)$/; const words = { greeting };
export const greets = (text: string) => words.greeting.test(text);
const seen = new Set<string>();
export function isNew(text: string): boolean { const isNew = !seen.has(text); seen.add(text); return isNew; }
export const prices = { apple: "3" };
`;
const tests = `
import { describe, expect, test } from "vitest";
import { first, greets, isAdult, isNew, next, prices } from "./code.ts";
test("strict", () => expect([isAdult(17), isAdult(18), isAdult(19)]).toEqual([false, true, true]));
test("loose", () => expect(typeof next(1)).toBe("number"));
describe("numbers", () => { test("left out", () => expect(next(1)).toBe(2)); });
test("only once", () => expect(first()).toBe(true));
test("greets", () => expect(["hello", "hi", "hi!", "oh, hi"].map(greets)).toEqual([true, true, false, false]));
test("new once", () => expect([isNew("a" + used), isNew("a" + used++)]).toEqual([true, false]));
let used = 0;
test("prices", () => expect(prices).toEqual({ apple: "3" }));
`;

const copy = mkdtempSync(join(tmpdir(), "mutate-runner-"));
let mutants: Mutant[];
const verdicts = { noticed: new Set<string>(), tried: new Set<string>() };

beforeAll(async () => {
  cpSync(join(root, "scripts/mutate"), join(copy, "scripts/mutate"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  writeFileSync(join(copy, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(copy, "code.ts"), code);
  writeFileSync(join(copy, "code.test.ts"), tests);
  mutants = await instrument(copy, ["code.ts"]);
  const file = new TestFile({ copy, config: "vitest.config.ts" }, "code.test.ts", verdicts, /^(?!numbers left out)/);
  await file.look();
  await file.tryInPlace(60_000);
}, 120_000);
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const of = (line: number) => mutants.filter(({ what }) => what.startsWith(`code.ts:${line}:`));
const noticed = (line: number) => of(line).filter(({ id }) => verdicts.noticed.has(id)).length;
const tried = (line: number) => of(line).filter(({ id }) => verdicts.tried.has(id)).length;

test("a strict test notices every change that it reaches", () => {
  expect(of(2).length).toBeGreaterThan(3);
  expect([noticed(2), tried(2)]).toEqual([of(2).length, of(2).length]);
});

test("a change that a chosen test reaches and does not notice is tried and survives", () => {
  const survivors = of(3).filter(({ id }) => verdicts.tried.has(id) && !verdicts.noticed.has(id));
  expect(survivors.map(({ what }) => what)).toEqual([expect.stringContaining("count - 1")]);
});

test("nothing is said of a change whose only test cannot be repeated", () => {
  expect([noticed(5), tried(5)]).toEqual([0, 0]);
});

test("a change of a constant is tried in place, too", () => {
  expect(of(6)).toHaveLength(3);
  expect([noticed(6), tried(6)]).toEqual([of(6).length, of(6).length]);
  expect([noticed(7), tried(7)]).toEqual([of(7).length, of(7).length]);
  expect(of(10)).toHaveLength(2);
  expect([noticed(10), tried(10)]).toEqual([2, 2]);
});
