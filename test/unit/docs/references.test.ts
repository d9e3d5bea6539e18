import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\0")
  .filter((file) => /\.(ts|tsx|mjs|cjs|js|json|md|sh|ya?ml|css|html|py)$/.test(file) && existsSync(join(root, file)))
  .filter((file) => file !== "package-lock.json" && !/(^|\/)fixtures\//.test(file));
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));

const headings = new Map<string, string[]>();
function headingsOf(page: string): string[] {
  const known = headings.get(page);
  if (known !== undefined) return known;
  const found = [...(texts.get(page) ?? "").matchAll(/^#{1,4} (.+)$/gm)].map(([, heading = ""]) => heading);
  headings.set(page, found);
  return found;
}

/** A comment can break anywhere; its lines are joined before references are read. */
const joined = (text: string): string => text.replace(/\n\s*(\*|\/\/|#)?\s*/g, " ");

test("no file refers to a document that is not in the repository", () => {
  // Written so that this file does not contain these names.
  const outside = new RegExp(`\\b(${["SPE" + "C", "CONTRAC" + "T", "DESIG" + "N", "DETECTIO" + "N"].join("|")})\\b`);
  const found = [...texts].flatMap(([file, text]) =>
    text.split("\n").flatMap((line, index) => (outside.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
});

const reference = /\bdocs\/([\w/-]+\.md)(?:, (?=[A-Z]))?/g;
/** In code a quoted path is a file of a test's own. */
const unquoted = new RegExp(`(?<!["'\`])${reference.source}`, "g");

test("every reference to a page leads to a page, and to a heading where it names one", () => {
  const lost: string[] = [];
  let count = 0;
  for (const [file, text] of texts) {
    for (const match of joined(text).matchAll(file.endsWith(".md") ? reference : unquoted)) {
      const [found, name] = match;
      const page = `docs/${name}`;
      count += 1;
      if (!texts.has(page)) lost.push(`${file}: ${page} does not exist`);
      if (!found.endsWith(", ")) continue;
      const rest = joined(text).slice(match.index + found.length, match.index + found.length + 80);
      if (!headingsOf(page).some((heading) => rest.startsWith(heading)))
        lost.push(`${file}: ${page} has no "${rest.slice(0, 40)}"`);
    }
  }
  expect(lost).toEqual([]);
  expect(count).toBeGreaterThan(20);
});

test("every decision that is referred to by its number exists", () => {
  const known = new Set(globSync("docs/decisions/*.md", { cwd: root }).map((file) => file.slice(15, 19)));
  const lost = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/\b(?:ADR |docs\/decisions\/)(\d{4})\b/g)].flatMap(([, number = ""]) =>
      known.has(number) ? [] : [`${file}: ${number}`],
    ),
  );
  expect(lost).toEqual([]);
});

test("every link and every path that a page names exists", () => {
  const folders = /^(api|bin|buildpack|cli|docs|examples|lambdas|lib|local|scripts|sdk|statemachines|test)\//;
  const pages = [...texts].filter(([file]) => file.endsWith(".md") && !file.startsWith("docs/decisions/"));
  const lost = pages.flatMap(([file, text]) => {
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, path = ""]) =>
      join(dirname(file), path),
    );
    const paths = [...text.matchAll(/`([\w./-]+)`/g)].flatMap(([, path = ""]) => (folders.test(path) ? [path] : []));
    return [...links, ...paths].filter((path) => !existsSync(join(root, path))).map((path) => `${file}: ${path}`);
  });
  expect(lost).toEqual([]);
});
