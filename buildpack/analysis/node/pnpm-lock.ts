import { parse } from "yaml";
import { entriesAt, isTable, stringAt, type Table, valueAt } from "../values.ts";

/** The parts of a pnpm-lock.yaml that detection reads. */
export interface PnpmLock {
  /** lockfileVersion: "5.4", "6.0", "9.0"; "" if missing. */
  version: string;
  /** True if the file has two documents: pnpm 11 writes its own dependencies before the project's. */
  hasOwnDocument: boolean;
  /** The version of pnpm that the first of two documents pins. */
  pnpmVersion: string | undefined;
  /** The ranges of the root's dependencies; undefined where the file cannot be read. */
  specifiers: ReadonlyMap<string, string> | undefined;
  hasOverrides: boolean;
}

/**
 * The YAML library takes 4 seconds for a lock file of 5 MB. So only the needed keys are extracted, by pnpm's layout: a few KB.
 * A part longer than this many characters is skipped.
 */
const parsedMax = 128 * 1024;

const kinds = ["dependencies", "devDependencies", "optionalDependencies"];

/** Reads a pnpm-lock.yaml of versions 5, 6 and 9. Never throws. */
export function pnpmLock(text: string): PnpmLock {
  const documents = text.split(/^---[ \t]*$/m).filter((document) => document.trim() !== "");
  const project = documents.at(-1) ?? "";
  const own = documents.length > 1 ? rootImporter(documents[0] ?? "") : undefined;
  return {
    version: String(valueAt(parsed(block(project, "lockfileVersion")), "lockfileVersion") ?? ""),
    hasOwnDocument: documents.length > 1,
    pnpmVersion: stringAt(own, "packageManagerDependencies", "pnpm", "version"),
    specifiers: specifiersOf(rootImporter(project)),
    hasOverrides: block(project, "overrides") !== "",
  };
}

function specifiersOf(importer: Table | undefined): ReadonlyMap<string, string> | undefined {
  if (importer === undefined) return undefined;
  const old = entriesAt(importer, "specifiers").map(([name, range]): [string, unknown] => [name, range]);
  const packages = kinds.flatMap((kind) => entriesAt(importer, kind));
  const inline = packages.map(([name, locked]): [string, unknown] => [name, valueAt(locked, "specifier")]);
  const all = [...old, ...inline].filter(([, range]) => range !== undefined && range !== null);
  return new Map(all.map(([name, range]) => [name, String(range)]));
}

/** The root's part of the importers, or the whole document where it has none; undefined where it cannot be read. */
function rootImporter(document: string): Table | undefined {
  const importers = block(document, "importers");
  if (importers === "") {
    const parts = ["specifiers", ...kinds].map((key) => block(document, key));
    return parsed(parts.join(""));
  }
  const root = /^ {2}(['"]?)\.\1:/m.exec(importers);
  if (root === null) return tableOf(valueAt(parsed(importers), "importers", "."));
  const end = importers.slice(root.index + 2).search(/\n {0,2}[^\s#]/);
  const text = end === -1 ? importers.slice(root.index) : importers.slice(root.index, root.index + end + 3);
  return tableOf(valueAt(parsed(text), "."));
}

/** The lines of a top-level key with everything nested in it; "" if the key is missing. */
function block(document: string, key: string): string {
  const start = document.startsWith(`${key}:`) ? 0 : document.indexOf(`\n${key}:`) + 1;
  if (start === 0 && !document.startsWith(`${key}:`)) return "";
  for (let end = document.indexOf("\n", start); end !== -1; end = document.indexOf("\n", end + 1)) {
    if (/[^\s#]/.test(document[end + 1] ?? "")) return document.slice(start, end + 1);
  }
  return `${document.slice(start)}\n`;
}

const tableOf = (value: unknown): Table | undefined => (isTable(value) ? value : undefined);

function parsed(text: string): Table | undefined {
  if (text.length > parsedMax) return undefined;
  try {
    // The check for duplicate keys takes quadratic time.
    return tableOf(parse(text, { uniqueKeys: false, logLevel: "error", maxAliasCount: 0 }) ?? {});
  } catch {
    return undefined;
  }
}
