import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { proofs } from "../docs/coverage.ts";

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
        .map((line) => (line === "" ? "\n" : line.replace(/^- |^\d+\. /, "\n")))
        .join(" ");
      const sentences = prose.split("\n").flatMap((paragraph) => paragraph.trim().split(/(?<=[.?!])\s+(?=[A-Z`*])/));
      return [heading, [...sentences.filter((sentence) => sentence !== "" && sentence !== "Extension."), ...rows]];
    }),
  );
}

/** What is wrong with the proofs: sentences without a test, tests that do not exist, proofs of sentences that are gone. */
export function problemsOf(page: string): string[] {
  const sections = sentencesOf(page);
  return Object.entries(proofs).flatMap(([heading, bySentence]) => {
    const sentences = sections.get(heading) ?? [];
    const unproved = sentences.filter((one) => !Object.keys(bySentence).some((begin) => one.startsWith(begin)));
    const gone = Object.keys(bySentence).filter((begin) => !sentences.some((one) => one.startsWith(begin)));
    const missing = Object.values(bySentence)
      .flat()
      .filter(([file, title]) => !readFileSync(join(root, file), "utf8").includes(title));
    return [
      ...unproved.map((one) => `${heading}: no test for "${one}"`),
      ...gone.map((one) => `${heading}: no sentence begins with "${one}"`),
      ...missing.map(([file, title]) => `${file} has no test "${title}"`),
    ];
  });
}

/** The page that says which test proves which sentence. */
export function coveragePage(page: string): string {
  const sections = [...sentencesOf(page)];
  const proved = sections.flatMap(([heading, sentences], section) => {
    const bySentence = proofs[heading];
    if (bySentence === undefined) return [];
    const rows = sentences.map((sentence, at) => {
      const tests = Object.entries(bySentence).find(([begin]) => sentence.startsWith(begin))?.[1] ?? [];
      const named = tests.map(([file, title]) => `\`${file}\`: ${title}`).join("<br>");
      return `| ${section + 1}.${at + 1} | ${sentence.replaceAll("|", "\\|")} | ${named.replaceAll("|", "\\|")} |`;
    });
    return [`## ${heading}\n\n| no. | sentence | tests |\n|---|---|---|\n${rows.join("\n")}\n`];
  });
  const open = sections.flatMap(([heading]) => (proofs[heading] === undefined ? [heading] : []));
  return `# What proves the interface

Each sentence of \`docs/api.md\` with the tests that prove it. \`npx node scripts/coverage-page.ts\` writes this page from
\`docs/coverage.ts\`; a test compares them, and fails for a sentence without a test.

${proved.join("\n")}
## Not listed yet

These headings have tests, but their sentences are not listed here yet: ${open.join(", ")}.
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const page = readFileSync(join(root, "docs", "api.md"), "utf8");
  writeFileSync(join(root, "docs", "coverage.md"), coveragePage(page));
}
