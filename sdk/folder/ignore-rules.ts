import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import ignore, { type Ignore, type PatternParams } from "ignore";

// Matching is case-sensitive on every machine, so that a folder always gives the same archive.
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
 * The patterns of a `.gitignore` in the folder `prefix` ("" or "a/b"), written as patterns of the top folder: one list, ordered
 * from the top down, then gives the same result as git's several files, where the last match wins.
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

/** The paths below a folder that git ignores, by its own `.gitignore` files and those of the enclosing repository. */
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
    // The user named this folder on purpose, so it is sent even if the enclosing repository ignores it (build output).
    const around = repository !== null && !rules.ignores(`${slashed(relative(repository, folder))}/`);
    this.#top = around ? repository : folder;
    this.#rules = around ? rules : ignore(options);
  }

  /** Reads the `.gitignore` of a folder; must be called before any path in the folder is checked. */
  enter(folder: string): void {
    const patterns = fromTop(readText(join(folder, ".gitignore")), slashed(relative(this.#top, folder)));
    if (patterns.length > 0) this.#rules.add(patterns);
  }

  leavesOut(path: string, isFolder: boolean): boolean {
    return this.#rules.ignores(this.#named(path, isFolder));
  }

  /** The rule that excludes a path, for a message; undefined if no rule does. */
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
 * A `.dockerignore` as Docker reads it: patterns are anchored at the top, a match on a folder applies to everything below it, the last
 * match wins, and so an exception can include a path in an excluded folder.
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

  /** The rule that excludes a path, for a message; undefined if no rule does. */
  ruleFor(path: string): string | undefined {
    const last = this.#patterns.findLast(({ matches }) => matches.ignores(path));
    return last?.negative === false ? last.shown : undefined;
  }

  /** True if no exception can include a path below an excluded folder, so that the folder need not be read. */
  get isFinal(): boolean {
    return !this.#patterns.some(({ negative }) => negative);
  }
}
