import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");

interface Keyed {
  key(id: Record<string, string>): { pk: string; sk: string };
}

const isKeyed = (value: unknown): value is Keyed =>
  typeof value === "object" && value !== null && "key" in value && "at" in value && typeof value.key === "function";

/** A placeholder for ids: each of its fields is its own name in braces. */
const placeholders = new Proxy<Record<string, string>>({}, { get: (_, name) => `{${String(name)}}` });

/** Every kind of row, as the beginning of its line on the page: `| name | pk | sk |`. */
async function entities(): Promise<string[]> {
  const files = globSync("lambdas/**/model/*.ts", { cwd: root }).filter((file) =>
    readFileSync(join(root, file), "utf8").includes("pk:"),
  );
  const modules = await Promise.all(files.map((file) => import(join(root, file)) as Promise<Record<string, unknown>>));
  return modules
    .flatMap((module) => Object.entries(module))
    .flatMap(([name, value]) => {
      if (!isKeyed(value)) return [];
      const { pk, sk } = value.key(placeholders);
      return [`| \`${name}\` | \`${pk}\` | \`${sk}\` |`];
    });
}

test("the page of the data model names every kind of row with its keys, and none that does not exist", async () => {
  const page = readFileSync(join(root, "docs", "data-model.md"), "utf8");
  const named = page.match(/^\| `\w+` \| `[A-Z]+[^`]*` \| `[A-Z]+[^`]*` \|/gm) ?? [];
  const found = await entities();
  expect(found.length).toBeGreaterThan(20);
  expect(named.toSorted()).toEqual(found.toSorted());
});
