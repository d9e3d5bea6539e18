import { lintSource } from "@secretlint/core";
import { creator } from "@secretlint/secretlint-rule-preset-recommend";
import { wrapperOf } from "../app.ts";
import { lineAt } from "../diagnostics.ts";
import type { Suggestion } from "../plan.ts";
import { isVendored, type SourceTree, withoutJunk } from "../tree.ts";
import { environmentFile, isEnvironmentFile } from "./environment-files.ts";
import { isPlaceholder, ownRules, suspicion } from "./patterns.ts";

const ASIDE =
  /(^|\/)(tests?|__tests__|__mocks__|mocks?|specs?|e2e|cypress|fixtures?|testdata|examples?|samples?|docs?|documentation|snapshots?|__snapshots__)\/|\.(test|spec|fixture|example|sample|template|dist|md|mdx|rst|snap)(\.[^./]+)?$|(^|\/)(test_[^/]*|conftest)\.py$|(^|\/)(example|sample|template)s?\.env$/i;
const LOCK =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lock|poetry\.lock|uv\.lock|pdm\.lock|Pipfile\.lock)$/;
const lineLengthMax = 4000;
const suspectLinesMax = 500;

/** Committed secrets and .env files with values: the rule, the file and the line, never the value. One finding per rule and file. */
export async function scanSecrets(source: SourceTree): Promise<Suggestion[]> {
  const tree = withoutJunk(source);
  const wrapper = wrapperOf(tree).length;
  const found: Suggestion[] = [];
  for (const [path, file] of tree.files) {
    const shown = path.slice(wrapper);
    const text = file.kind === "file" && isLookedThrough(shown) ? file.text?.() : undefined;
    if (text !== undefined && mayHoldSecrets(shown, text)) found.push(...(await secretsOf(shown, text)));
  }
  return inOrder(found);
}

/** Findings sorted by path, independent of the order in which the files were read. */
export const inOrder = (found: readonly Suggestion[]): Suggestion[] =>
  found.toSorted((one, other) => (one.file === other.file ? 0 : one.file < other.file ? -1 : 1));

// A project's own folder may well be called "test" or "build", so only what is below it counts.
const isLookedThrough = (shown: string): boolean => !(isVendored(shown) || ASIDE.test(shown) || LOCK.test(shown));

/** False for nearly every file; `shown` is its path without a folder that wraps the whole archive. */
export const mayHoldSecrets = (shown: string, text: string): boolean =>
  isLookedThrough(shown) && (text.search(suspicion) !== -1 || isEnvironmentFile(shown));

/** `scanSecrets` for one file that may hold some. */
export async function secretsOf(shown: string, text: string): Promise<Suggestion[]> {
  const environment = isEnvironmentFile(shown) ? environmentFile(shown, text) : undefined;
  const secrets = await secretsIn(shown, text);
  return environment === undefined ? secrets : [environment, ...secrets];
}

interface SuspectLine {
  text: string;
  line: number;
}

async function secretsIn(shown: string, text: string): Promise<Suggestion[]> {
  const lines = suspectLines(text);
  if (lines.length === 0) return [];
  const content = lines.map((line) => line.text).join("\n");
  const rules = new Map<string, number>();
  const note = (rule: string, start: number, end: number) => {
    const suspect = lines[lineAt(content, start) - 1];
    const value = content.slice(start, end);
    if (
      suspect === undefined ||
      rules.has(rule) ||
      isPlaceholder(value) ||
      (value.length < 12 && isPlaceholder(suspect.text))
    )
      return;
    rules.set(rule, suspect.line);
  };
  for (const { rule, pattern } of ownRules) {
    for (const match of content.matchAll(pattern)) note(rule, match.index, match.index + match[0].length);
  }
  for (const { rule, range } of await lint(content)) {
    if (!rules.has(OWN_NAMES.get(rule) ?? rule)) note(rule, range[0], range[1]);
  }
  return [...rules].map(([rule, line]) => ({
    code: "committed_secret",
    message: `The rule ${rule} found a secret in ${shown}. Revoke it, remove it from the source, and set it as an environment variable of the project.`,
    file: shown,
    line,
  }));
}

/** The lines that could contain a secret; for a private key, all lines up to its end. */
function suspectLines(text: string): SuspectLine[] {
  const numbers = new Map<number, string>();
  let line = 1;
  let counted = 0;
  for (const match of text.matchAll(suspicion)) {
    if (numbers.size >= suspectLinesMax) break;
    for (let at = text.indexOf("\n", counted); at !== -1 && at < match.index; at = text.indexOf("\n", at + 1)) {
      line += 1;
      counted = at + 1;
    }
    const until = match[0] === "PRIVATE KEY" ? 60 : 1;
    let from = counted;
    for (let offset = 0; offset < until && from <= text.length; offset += 1) {
      const end = text.indexOf("\n", from) === -1 ? text.length : text.indexOf("\n", from);
      const start = offset === 0 ? Math.max(from, match.index - lineLengthMax / 2) : from;
      numbers.set(line + offset, text.slice(start, Math.min(end, start + lineLengthMax)));
      if (offset > 0 && text.slice(from, end).includes("-----END")) break;
      from = end + 1;
    }
  }
  return [...numbers].sort(([a], [b]) => a - b).map(([number, content]) => ({ line: number, text: content }));
}

/** Rules of our own that find the same secrets as a rule of the set. */
const OWN_NAMES: ReadonlyMap<string, string> = new Map([
  ["aws/AWSAccessKeyID", "aws/AccessKeyID"],
  ["openai/OpenAIToken", "openai/APIKey"],
]);

const CONFIG = { rules: [{ id: "@secretlint/secretlint-rule-preset-recommend", rule: creator }] };

async function lint(content: string): Promise<{ rule: string; range: readonly [number, number] }[]> {
  const result = await lintSource({
    source: { content, filePath: "source.txt", ext: ".txt", contentType: "text" },
    options: { config: CONFIG, noPhysicFilePath: true },
  });
  return result.messages
    .filter(({ messageId }) => messageId !== "AWSAccountID")
    .map(({ ruleId, messageId, range }) => ({
      rule: `${ruleId.replace("@secretlint/secretlint-rule-", "")}/${messageId}`,
      range,
    }));
}
