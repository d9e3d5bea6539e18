import { expect, test } from "vitest";
import { fc } from "../../harness/fast-check.ts";
import { propertySeed } from "../../harness/property-seed.ts";

test("assertions and samples of a run use its seed", () => {
  const seed = propertySeed();
  const sampled = fc.sample(fc.integer(), 20);
  expect(sampled).toEqual(fc.sample(fc.integer(), { seed, numRuns: 20 }));
  const checked: number[] = [];
  fc.assert(
    fc.property(fc.integer(), (value) => void checked.push(value)),
    { numRuns: 20 },
  );
  expect(checked).toEqual(sampled);
});

test("a failed property names its seed", () => {
  const failing = fc.property(fc.integer(), () => false);
  expect(() => fc.assert(failing)).toThrow(`seed: ${propertySeed()}`);
});

test("the seed can be given, as a number only", () => {
  expect(propertySeed("-5")).toBe(-5);
  expect(() => propertySeed("yesterday")).toThrow('PROPERTY_SEED must be a number or "random", not "yesterday".');
});
