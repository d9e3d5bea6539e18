import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import ignore, { type Ignore, type PatternParams } from "ignore";

// Case counts everywhere, so that one folder gives one archive on every machine.
const options = { ignoreCase: false, allowRelativePaths: true };

const slashed = (path: string) => path.replaceAll(sep, "/");

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EISDIR")) return "";
    throw error;
  }
}

const lines = (text: string) => text.split(/\r?\n/);

const shownRule = (pattern: string, file: string, index: number) => `"${pattern.trim()}" in ${file}, line ${index + 1}`;

/**
 * The patterns of a `.gitignore` in the folder `prefix` ("" or "a/b"), written as patterns of the top folder: one list in the order
 * from the top down is then judged as git judges many, where the last match wins.
 */
function fromTop(text: string, prefix: string): PatternParams[] {
  const base = `/${prefix.replace(/[\\*?[\]!# ]/g, "\\$&")}/`;
  const file = prefix === "" ? ".gitignore" : `${prefix}/.gitignore`;
  return lines(text).flatMap((line, index) => {
    const trimmed = line.replace(/(?<!\\) +$/, "");
    if (trimmed === "" || trimmed.startsWith("#")) return [];
    const mark = shownRule(trimmed, file, index);
    if (prefix === "") return [{ pattern: line, mark }];
    const negative = trimmed.startsWith("!");
    const pattern = negative ? trimmed.slice(1) : trimmed;
    const place = /\/(?!$)/.test(pattern) ? pattern.replace(/^\//, "") : `**/${pattern}`;
    return [{ pattern: `${negative ? "!" : ""}${base}${place}`, mark }];
  });
}

/** What git would leave out below a folder: its own `.gitignore` files and those of the repository around it. */
export class GitRules {
  readonly #top: string;
  readonly #rules: Ignore;

  constructor(folder: string) {
    const repository = repositoryAround(folder);
    const rules = ignore(options);
    if (repository !== null) {
      const parents = relative(repository, folder).split(sep).slice(0, -1);
      for (let depth = 0; depth <= parents.length; depth += 1) {
        const prefix = parents.slice(0, depth);
        rules.add(fromTop(readText(join(repository, ...prefix, ".gitignore")), prefix.join("/")));
      }
    }
    // A folder that the repository around it ignores (build output) was named on purpose, and stands for itself.
    const around = repository !== null && !rules.ignores(`${slashed(relative(repository, folder))}/`);
    this.#top = around ? repository : folder;
    this.#rules = around ? rules : ignore(options);
  }

  /** Takes up the `.gitignore` of a folder; to be called before anything in it is asked about. */
  enter(folder: string): void {
    const patterns = fromTop(readText(join(folder, ".gitignore")), slashed(relative(this.#top, folder)));
    if (patterns.length > 0) this.#rules.add(patterns);
  }

  leavesOut(path: string, isFolder: boolean): boolean {
    return this.#rules.ignores(this.#named(path, isFolder));
  }

  /** The rule that leaves a path out, as a sentence shows it; undefined when none does. */
  ruleFor(path: string, isFolder: boolean): string | undefined {
    const { ignored, rule } = this.#rules.checkIgnore(this.#named(path, isFolder));
    return ignored ? rule?.mark : undefined;
  }

  #named(path: string, isFolder: boolean): string {
    return slashed(relative(this.#top, path)) + (isFolder ? "/" : "");
  }
}

function repositoryAround(folder: string): string | null {
  if (existsSync(join(folder, ".git"))) return null;
  for (let at = dirname(folder); ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (at === dirname(at)) return null;
  }
}

/**
 * A `.dockerignore` as Docker reads it: patterns are anchored at the top, a match on a folder counts for all below it, the last
 * match wins, and so an exception brings back what lies in an excluded folder.
 */
export class DockerRules {
  readonly #patterns: { negative: boolean; matches: Ignore; shown: string }[];

  constructor(folder: string) {
    this.#patterns = lines(readText(join(folder, ".dockerignore"))).flatMap((line, index) => {
      const text = line.trim();
      if (text === "" || text.startsWith("#")) return [];
      const negative = text.startsWith("!");
      const pattern = (negative ? text.slice(1).trim() : text).replace(/^(\.?\/)+|\/+$/g, "");
      if (pattern === "" || pattern === ".") return [];
      return [
        { negative, matches: ignore(options).add(`/${pattern}`), shown: shownRule(text, ".dockerignore", index) },
      ];
    });
  }

  leavesOut(path: string): boolean {
    return this.ruleFor(path) !== undefined;
  }

  /** The rule that leaves a path out, as a sentence shows it; undefined when none does. */
  ruleFor(path: string): string | undefined {
    const last = this.#patterns.findLast(({ matches }) => matches.ignores(path));
    return last?.negative === false ? last.shown : undefined;
  }

  /** True when nothing below an excluded folder can come back, so that it need not be looked into. */
  get isFinal(): boolean {
    return !this.#patterns.some(({ negative }) => negative);
  }
}
