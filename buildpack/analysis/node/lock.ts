import semver from "semver";
import type { App } from "../app.ts";
import { optionalJson } from "../manifests.ts";
import { isVendored } from "../tree.ts";
import { entriesAt, isTable, stringAt, type Table, tableAt, valueAt } from "../values.ts";
import type { Dependencies } from "./dependencies.ts";
import { type PnpmLock, pnpmLock } from "./pnpm-lock.ts";

const LOCAL = /^(file|link|portal|workspace|patch|catalog|git|github|https?):|^[./~]|\//;

/** Describes the first dependency of package.json that its lock file does not satisfy; undefined if they agree or this is unknown. */
export function lockDisagreement(
  app: App,
  manifest: Table,
  dependencies: Dependencies,
  lock: string,
): string | undefined {
  if (lock === "bun.lockb") return undefined;
  const text = app.text(lock);
  if (text === undefined) return undefined;
  if (lock === "package-lock.json" || lock === "npm-shrinkwrap.json") return npmDisagreement(app, dependencies, lock);
  if (lock === "pnpm-lock.yaml") return pnpmDisagreement(manifest, dependencies, pnpmLock(text));
  if (lock === "yarn.lock") return yarnDisagreement(app, manifest, dependencies, text);
  return bunDisagreement(manifest, text);
}

const missing = (name: string) => `${name} is not in it`;
const other = (name: string, range: string) => `it does not hold ${name} ${range}`;

/** Finds a dependency that `npm ci` rejects: missing, or locked at a version outside its range. */
function npmDisagreement(app: App, dependencies: Dependencies, lock: string): string | undefined {
  const locked = optionalJson(app, lock);
  if (locked === undefined) return "it is not valid JSON";
  const packages = valueAt(locked, "packages");
  const entry = (name: string): unknown =>
    isTable(packages) ? valueAt(packages, `node_modules/${name}`) : valueAt(locked, "dependencies", name);
  for (const [name, range] of dependencies) {
    const found = entry(name);
    if (found === undefined) return missing(name);
    const version = stringAt(found, "version");
    if (
      version === undefined ||
      LOCAL.test(range) ||
      semver.valid(version) === null ||
      semver.validRange(range) === null
    )
      continue;
    if (!semver.satisfies(version, range, { includePrerelease: true })) return other(name, range);
  }
  return undefined;
}

/** Finds a specifier that differs from package.json, which `pnpm install --frozen-lockfile` rejects. */
function pnpmDisagreement(manifest: Table, declared: Dependencies, lock: PnpmLock): string | undefined {
  const locked = lock.specifiers;
  if (locked === undefined) return undefined;
  const overridden = Object.keys(tableAt(manifest, "pnpm", "overrides")).length > 0 || lock.hasOverrides;
  for (const [name, range] of declared) {
    const specifier = locked.get(name);
    if (specifier === undefined) {
      if (/^(link|workspace):/.test(range)) continue;
      return missing(name);
    }
    if (!overridden && specifier !== range) return other(name, range);
  }
  const peers = tableAt(manifest, "peerDependencies");
  const surplus = [...locked.keys()].find((name) => !declared.has(name) && !Object.hasOwn(peers, name));
  return surplus === undefined ? undefined : `it holds ${surplus}, which package.json does not declare`;
}

/** Finds a `name@range` that the lock file does not list, which yarn's frozen install rejects. */
function yarnDisagreement(app: App, manifest: Table, dependencies: Dependencies, text: string): string | undefined {
  if (Object.keys(tableAt(manifest, "resolutions")).length > 0) return undefined;
  const berry = text.includes("__metadata:");
  const members = valueAt(manifest, "workspaces") === undefined ? new Set() : memberNames(app);
  const listed = yarnEntries(text);
  for (const [name, range] of dependencies) {
    if (members.has(name) || LOCAL.test(range) || range.includes(":")) continue;
    const asked = `${name}@${berry ? "npm:" : ""}${range.trim() === "" && berry ? "*" : range}`;
    if (!listed.has(asked)) return other(name, range);
  }
  return undefined;
}

/** Every `name@range` that a yarn.lock lists: its lines at the left margin, `"a@^1", b@2:`. */
function yarnEntries(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [line] of text.matchAll(/^[^\s#].*:[ \t]*$/gm)) {
    for (const entry of line.trimEnd().slice(0, -1).split(/,\s*/)) found.add(entry.replaceAll('"', "").trim());
  }
  return found;
}

/** The names of the packages below the root, which yarn 1 leaves out of its lock file and later versions list without `npm:`. */
const memberNames = (app: App): ReadonlySet<unknown> =>
  new Set(
    app.paths
      .filter((path) => path.endsWith("/package.json") && !isVendored(path))
      .map((path) => stringAt(optionalJson(app, path), "name")),
  );

/** Finds a dependency whose range differs from the copy of package.json's ranges in bun.lock. */
function bunDisagreement(manifest: Table, text: string): string | undefined {
  const pairs = new Set(text.match(/"(?:[^"\\\n]|\\.)*": "(?:[^"\\\n]|\\.)*"/g));
  for (const kind of ["dependencies", "devDependencies", "optionalDependencies"]) {
    for (const [name, range] of entriesAt(manifest, kind)) {
      if (typeof range !== "string") continue;
      if (!pairs.has(`${JSON.stringify(name)}: ${JSON.stringify(range)}`)) return other(name, range);
    }
  }
  return undefined;
}
