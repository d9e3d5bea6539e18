import semver from "semver";
import type { App } from "../app.ts";
import { type Diagnostics, listed, quoted, suggest } from "../diagnostics.ts";
import type { PackageManager } from "../plan.ts";
import { isTable, stringAt, type Table, valueAt } from "../values.ts";
import { pnpmLock } from "./pnpm-lock.ts";

type NodeManager = "npm" | "pnpm" | "yarn" | "bun";

const LOCKS: readonly [NodeManager, readonly string[]][] = [
  ["pnpm", ["pnpm-lock.yaml"]],
  ["bun", ["bun.lock", "bun.lockb"]],
  ["yarn", ["yarn.lock"]],
  ["npm", ["npm-shrinkwrap.json", "package-lock.json"]],
];
const PNPM_OF_LOCK: readonly [RegExp, string][] = [
  [/^5\.3/, "6"],
  [/^5\.4/, "7"],
  [/^6(\.|$)/, "8"],
  [/^9(\.|$)/, "9"],
];
/** The first major version of pnpm whose lock file may have two documents. */
const pnpmOfTwoDocuments = "11";
const YARN_OF_LOCK: ReadonlyMap<string, string> = new Map([
  ["4", "2"],
  ["5", "2"],
  ["6", "3"],
  ["7", "3"],
  ["8", "4"],
]);

/** The package manager of a Node.js app with the lock file that it reads, null when it has none. */
export interface NodePackages {
  manager: PackageManager & { name: NodeManager };
  lock: string | null;
}

/** The package manager by docs/detection.md, Package manager; several locks and unreadable declarations are reported in the diagnostics. */
export function nodePackageManager(app: App, manifest: Table | undefined, diagnostics: Diagnostics): NodePackages {
  const found = LOCKS.flatMap(([name, files]) => files.filter((file) => app.has(file)).map((file) => ({ name, file })));
  const declared = declaredManager(app, manifest, diagnostics);
  const named =
    declared?.name ??
    found.find(({ name }) => name !== "npm")?.name ??
    (app.has(".yarnrc.yml") ? "yarn" : (found[0]?.name ?? engineManager(manifest))) ??
    "npm";
  const lock = found.find(({ name }) => name === named)?.file ?? null;
  const managers = new Set(found.map(({ name }) => name));
  if (managers.size > 1) {
    const surplus = found.filter(({ name }) => name !== named).map(({ file }) => file);
    suggest(diagnostics, app, {
      code: "several_locks",
      message: `Found lock files of several package managers (${listed(found.map(({ file }) => file))}); ${named} is used. Delete ${listed(surplus)}.`,
      file: surplus[0] ?? "package.json",
    });
  }
  const version = managerVersion(app, manifest, { name: named, declared: declared?.version ?? "", lock });
  return { manager: { name: named, version }, lock };
}

const isManager = (name: string): name is NodeManager => /^(npm|pnpm|yarn|bun)$/.test(name);

function declaredManager(
  app: App,
  manifest: Table | undefined,
  diagnostics: Diagnostics,
): { name: NodeManager; version: string } | undefined {
  const value = valueAt(manifest, "packageManager");
  if (value !== undefined) {
    const [, name = "", version = ""] = (typeof value === "string" && /^\s*(\w+)(?:@([^+\s]+))?/.exec(value)) || [];
    if (isManager(name)) return { name, version };
    diagnostics.warnings.push(
      `packageManager in ${app.shown("package.json")} says ${quoted(value)}, which is not a supported package manager, so it is ignored. Set it to "npm", "pnpm", "yarn" or "bun" with a version, such as "pnpm@9.15.0".`,
    );
  }
  const wanted = valueAt(manifest, "devEngines", "packageManager");
  for (const candidate of Array.isArray(wanted) ? wanted : [wanted]) {
    const name = isTable(candidate) ? stringAt(candidate, "name") : undefined;
    if (name !== undefined && isManager(name)) return { name, version: stringAt(candidate, "version") ?? "" };
  }
  return undefined;
}

function engineManager(manifest: Table | undefined): NodeManager | undefined {
  return (["pnpm", "yarn", "bun"] as const).find((name) => /\d|^\*$/.test(stringAt(manifest, "engines", name) ?? ""));
}

/** The version used if a range allows several. */
const PREFERRED: Readonly<Record<NodeManager, string>> = { npm: "11", pnpm: "10", yarn: "1", bun: "1" };

/** A version or tag for the registry: the exact declared version, else a major version allowed by the declaration, the engines and the lock file. */
function managerVersion(
  app: App,
  manifest: Table | undefined,
  packages: { name: NodeManager; declared: string; lock: string | null },
): string | null {
  const { name, declared, lock } = packages;
  const exact = semver.valid(declared);
  if (exact !== null) return exact;
  const locked = name === "pnpm" ? pnpmOfLock(app, lock) : name === "yarn" ? yarnOfFiles(app, lock) : null;
  const engine = name === "npm" ? undefined : stringAt(manifest, "engines", name);
  const range = [declared, engine].find(
    (text) => text !== undefined && text.trim() !== "" && semver.validRange(text) !== null,
  );
  if (range === undefined) return locked ?? (name === "npm" || name === "bun" ? null : PREFERRED[name]);
  for (const candidate of [locked, PREFERRED[name]]) {
    if (candidate !== null && semver.intersects(semver.valid(candidate) ?? `${candidate}.x`, range)) return candidate;
  }
  return String(semver.minVersion(range)?.major ?? PREFERRED[name]);
}

function pnpmOfLock(app: App, lock: string | null): string | null {
  if (lock === null) return null;
  const { version, hasOwnDocument, pnpmVersion } = pnpmLock(app.text(lock) ?? "");
  if (hasOwnDocument) return semver.valid(pnpmVersion) ?? pnpmOfTwoDocuments;
  return PNPM_OF_LOCK.find(([pattern]) => pattern.test(version))?.[1] ?? null;
}

function yarnOfFiles(app: App, lock: string | null): string | null {
  const release = /^yarnPath:.*yarn-(\d+\.\d+\.\d+)\.[cm]?js/m.exec(app.text(".yarnrc.yml") ?? "")?.[1];
  if (release !== undefined) return release;
  const text = lock === null ? undefined : app.text(lock);
  if (text === undefined) return app.has(".yarnrc.yml") ? "4" : null;
  const metadata = /^__metadata:\s*\n(?:\s+.*\n)*?\s+version:\s*['"]?(\d+)/m.exec(text)?.[1];
  if (metadata === undefined) return text.includes("__metadata:") ? "4" : "1";
  return YARN_OF_LOCK.get(metadata) ?? "4";
}
