import { expect, test } from "vitest";
import { bodiesOf, loopBudget, withCounts } from "../../../scripts/mutate/endless-loops.ts";

/** A parsed loop whose body is this part of the text. */
const loop = (type: string, code: string, part: string, inner: unknown[] = []) => ({
  type,
  body: {
    type: part.startsWith("{") ? "BlockStatement" : "Statement",
    start: code.indexOf(part),
    ...endOf(code, part),
    inner,
  },
});
const endOf = (code: string, part: string) => ({ end: code.indexOf(part) + part.length });

const inner = "while (n < 12) n += 1;";
const code = `let n = 0; for (const one of [1, 2]) ${inner} do { n += 1; } while (n < 20); return n;`;
const parsed = [
  loop("ForOfStatement", code, inner, [loop("WhileStatement", code, "n += 1;")]),
  { type: "Block", body: [loop("DoWhileStatement", code, "{ n += 1; }")] },
];

test("every loop counts its rounds, with and without braces, and stops when the budget is used up", () => {
  const before = loopBudget.left;
  try {
    const run = new Function(withCounts(code, bodiesOf(parsed)));
    loopBudget.left = 1_000;
    expect(run()).toBe(20);
    expect(1_000 - loopBudget.left).toBe(2 + 12 + 8);
    loopBudget.left = 21;
    expect(run).toThrow("This change makes a loop endless");
  } finally {
    loopBudget.left = before;
  }
});
