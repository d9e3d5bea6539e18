import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { coveragePage, problemsOf, sentencesOf } from "../../../scripts/coverage-page.ts";

const docs = join(import.meta.dirname, "..", "..", "..", "docs");
const page = readFileSync(join(docs, "api.md"), "utf8");

test("every sentence of the interface has a test, and every listed test and sentence exists", () => {
  expect(problemsOf(page)).toEqual([]);
  expect([...sentencesOf(page).values()].flat().length).toBeGreaterThan(450);
});

test("a sentence without a test, a test that does not exist and a sentence that is gone are named", () => {
  const more = page.replace("## Authentication\n", "A new rule holds.\n\n## Authentication\n");
  expect(problemsOf(more)).toEqual(['Idempotency: no test for "A new rule holds."']);
  expect(problemsOf(page.replace("## Lists\n", "## Lists of pages\n"))).toContain(
    'Lists: 0 sentences begin with "A list takes"',
  );
  const file = "test/unit/docs/coverage.test.ts";
  const listed = { Lists: { A: [[file, "the page of"]], "Cursors are": [], B: [] } } as const;
  expect(problemsOf("## Lists\n\nA list. A page.\n\nCursors are opaque.\n", listed)).toEqual([
    'Lists: 2 sentences begin with "A"',
    'Lists: 0 sentences begin with "B"',
    'Lists: no test for "Cursors are"',
    'Lists: no test for "B"',
    `${file} has no test "the page of"`,
  ]);
});

test("the page of coverage is the one that scripts/coverage-page.ts writes", () => {
  expect(readFileSync(join(docs, "coverage.md"), "utf8")).toBe(coveragePage(page));
});
