import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");

test("each line of docs/isolation.md names a test that exists", () => {
  const page = readFileSync(join(root, "docs/isolation.md"), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| an app reaches"));
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) {
    const [, file = "", title = ""] = /`(test\/[\w./-]+)`: (.+) \|$/.exec(row) ?? [];
    expect(file, row).not.toBe("");
    expect(readFileSync(join(root, file), "utf8"), row).toContain(`("${title}"`);
  }
});
