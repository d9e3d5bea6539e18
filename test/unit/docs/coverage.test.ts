import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { coveragePage, problemsOf } from "../../../scripts/coverage-page.ts";

const docs = join(import.meta.dirname, "..", "..", "..", "docs");
const page = readFileSync(join(docs, "api.md"), "utf8");

test("every sentence of a listed heading has a test, and every listed test and sentence exists", () => {
  expect(problemsOf(page)).toEqual([]);
  const more = page.replace("## Authentication\n", "A new rule holds.\n\n## Authentication\n");
  expect(problemsOf(more)).toEqual(['Idempotency: no test for "A new rule holds."']);
});

test("the page of coverage is the one that scripts/coverage-page.ts writes", () => {
  expect(readFileSync(join(docs, "coverage.md"), "utf8")).toBe(coveragePage(page));
});
