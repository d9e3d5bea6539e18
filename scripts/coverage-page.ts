import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { proofs } from "../docs/proofs/index.ts";

const root = join(import.meta.dirname, "..");

/** The sentences of a page by heading: of its paragraphs and lists, and each row of its tables. */
export function sentencesOf(page: string): Map<string, string[]> {
  const sections = page.split(/^#{2,3} /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [heading = "", ...lines] = section.replaceAll(/^```[\s\S]*?^```$/gm, "").split("\n");
      const rows = lines.filter((line, at) => line.startsWith("| ") && !lines[at + 1]?.startsWith("|---"));
      const prose = lines
        .filter((line) => !line.startsWith("|"))
        .map((line) => (line === "" ? "\n" : line.replace(/^- |^\d+\. /, "\n").trim()))
        .join(" ");
      const sentences = prose.split("\n").flatMap((paragraph) => paragraph.trim().split(/(?<=[.?!])\s+(?=[A-Z`*])/));
      return [heading, [...sentences.filter((sentence) => sentence !== "" && sentence !== "Extension."), ...rows]];
    }),
  );
}

/** The titles of a file's tests and groups, as they are written: `it("…"`, `describe("…"`, `test.each(…)("…"`. */
function titlesIn(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const named = text.matchAll(/\b(?:describe|it|test)(?:\.\w+)*(?:<[^(]*>)?\(\s*(["`])((?:[^\\]|\\.)*?)\1/g);
  const fromTables = text.matchAll(/\)\(\s*(["`])((?:[^\\]|\\.)*?)\1,/g);
  return [...named, ...fromTables].map(([, , title = ""]) => title);
}

/** What is wrong with the proofs: sentences without a test, tests that do not exist, proofs of sentences that are gone. */
export function problemsOf(page: string, listed = proofs): string[] {
  const sections = sentencesOf(page);
  const headings = new Set([...sections.keys(), ...Object.keys(listed)]);
  const titles = new Map<string, string[]>();
  const exists = (file: string, title: string) => {
    const known = titles.get(file) ?? titlesIn(file);
    titles.set(file, known);
    return known.includes(title);
  };
  return [...headings].flatMap((heading) => {
    const sentences = sections.get(heading) ?? [];
    const bySentence = Object.entries(listed[heading] ?? {});
    const unproved = sentences.filter((one) => !bySentence.some(([begin]) => one.startsWith(begin)));
    const counted = bySentence.map(([begin]) => ({
      begin,
      count: sentences.filter((one) => one.startsWith(begin)).length,
    }));
    const missing = bySentence.flatMap(([, tests]) => tests).filter(([file, title]) => !exists(file, title));
    return [
      ...unproved.map((one) => `${heading}: no test for "${one}"`),
      ...counted
        .filter(({ count }) => count !== 1)
        .map(({ begin, count }) => `${heading}: ${count} sentences begin with "${begin}"`),
      ...bySentence.filter(([, tests]) => tests.length === 0).map(([begin]) => `${heading}: no test for "${begin}"`),
      ...missing.map(([file, title]) => `${file} has no test "${title}"`),
    ];
  });
}

/** The page that says which test proves which sentence. */
export function coveragePage(page: string): string {
  const tables = [...sentencesOf(page)].map(([heading, sentences], section) => {
    const rows = sentences.map((sentence, at) => {
      const tests = Object.entries(proofs[heading] ?? {}).find(([begin]) => sentence.startsWith(begin))?.[1] ?? [];
      const named = tests.map(([file, title]) => `\`${file}\`: ${title}`).join("<br>");
      return `| ${section + 1}.${at + 1} | ${sentence.replaceAll("|", "\\|")} | ${named.replaceAll("|", "\\|")} |`;
    });
    return `## ${heading}\n\n| no. | sentence | tests |\n|---|---|---|\n${rows.join("\n")}\n`;
  });
  return `# What proves the interface

Each sentence of \`docs/api.md\` with the tests that prove it. \`npx node scripts/coverage-page.ts\` writes this page from
\`docs/proofs/\`; a test compares them, and fails for a sentence without a test and for a test that does not exist. Where many
tests prove a sentence, a few are named. \`%s\` in a title stands for each case of a table.

${tables.join("\n")}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const page = readFileSync(join(root, "docs", "api.md"), "utf8");
  const problems = problemsOf(page);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  writeFileSync(join(root, "docs", "coverage.md"), coveragePage(page));
}
