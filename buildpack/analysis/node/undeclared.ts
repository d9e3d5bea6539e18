import { builtinModules } from "node:module";
import type { App } from "../app.ts";
import { type Diagnostics, lineAt, suggest } from "../diagnostics.ts";
import { optionalJson } from "../manifests.ts";
import { isVendored } from "../tree.ts";
import { entriesAt, stringAt, type Table, valueAt } from "../values.ts";
import { dependenciesOf } from "./dependencies.ts";
import { nodeEntry, reachable } from "./sources.ts";

/** Imports that a file makes when it is loaded: not of types alone, and not inside of a block, where they may be allowed to fail. */
const IMPORT =
  /^(?:import|export)\s(?!type\s)[^"'`;()]{0,500}?\bfrom\s*["']([^"'\n]+)["']|^import\s*["']([^"'\n]+)["']|^(?:const|let|var)\s[^=;"'`]{1,300}=\s*(?:require|await import)\s*\(\s*["']([^"'\n]+)["']\s*\)/gm;
const NAME = /^(?:@[a-z0-9][\w.~-]*\/)?[a-z0-9][\w.~-]*$/i;
/** Modules that Node.js or Bun bring. */
const BUILTIN: ReadonlySet<string> = new Set([...builtinModules, "bun"]);

/** Advises against an import that an app's sources make when they are loaded, of a package that no manifest declares. */
export function suggestUndeclaredPackages(
  app: App,
  manifest: Table | undefined,
  line: string,
  manager: string,
  diagnostics: Diagnostics,
): void {
  const entry = nodeEntry(app, line);
  if (entry === undefined || valueAt(manifest, "_moduleAliases") !== undefined) return;
  const names = namesOfApp(app);
  const known = new Map<string, boolean>();
  for (const { path, text } of reachable(app, entry)) {
    for (const { 1: from, 2: bare, 3: required, index } of text.matchAll(IMPORT)) {
      const name = packageOf(from ?? bare ?? required ?? "");
      if (name === undefined || known.get(name) !== undefined) continue;
      const isKnown =
        names.has(name) || isDeclaredBeside(app, path, name) || isAlias(app, name) || isLocked(app, name, manager);
      known.set(name, isKnown);
      if (isKnown) continue;
      suggest(diagnostics, app, {
        code: "undeclared_import",
        message: `${app.shown(path)} imports ${name}, which no package.json of the app declares. Run ${manager} ${manager === "npm" ? "install" : "add"} ${name}, and commit package.json.`,
        file: path,
        line: lineAt(text, index),
      });
    }
  }
}

/** The package of an import, undefined for files, aliases and what Node.js itself brings. */
function packageOf(specifier: string): string | undefined {
  const [first = "", second = ""] = specifier.split("/");
  const name = first.startsWith("@") ? `${first}/${second}` : first;
  return NAME.test(name) && !BUILTIN.has(name) ? name : undefined;
}

/** Everything that a manifest of the archive declares, and what its packages are called. */
function namesOfApp(app: App): ReadonlySet<string> {
  const names = new Set<string>();
  for (const path of app.paths) {
    if (path !== "package.json" && (!path.endsWith("/package.json") || isVendored(path))) continue;
    const manifest = optionalJson(app, path);
    const own = stringAt(manifest, "name");
    if (own !== undefined) names.add(own);
    if (path !== "package.json") continue;
    for (const name of dependenciesOf(manifest).keys()) names.add(name);
    for (const [name] of entriesAt(manifest, "peerDependencies")) names.add(name);
  }
  return names;
}

/** True where a manifest in a folder above a source declares a package. */
function isDeclaredBeside(app: App, source: string, name: string): boolean {
  const folders = source.split("/").slice(0, -1);
  return folders.some((_, index) => {
    const manifest = optionalJson(app, `${folders.slice(0, index + 1).join("/")}/package.json`);
    return (
      dependenciesOf(manifest).has(name) || entriesAt(manifest, "peerDependencies").some(([peer]) => peer === name)
    );
  });
}

const CONFIGURATIONS = ["tsconfig.json", "tsconfig.base.json", "jsconfig.json"];

/** True for a name that a compiler's configuration maps to files, or that is a folder of the app's own. */
function isAlias(app: App, name: string): boolean {
  const [first = name] = name.split("/");
  if (["", "src/"].some((folder) => app.hasFolder(folder + first))) return true;
  return CONFIGURATIONS.some((path) => app.text(path)?.includes(`"${first}`));
}

/** True where a lock file puts a package at the top of node_modules, declared or not; pnpm links only what is declared. */
function isLocked(app: App, name: string, manager: string): boolean {
  if (manager === "pnpm") return false;
  return (
    app.text("package-lock.json")?.includes(`"node_modules/${name}"`) === true ||
    [`\n${name}@`, `\n"${name}@`].some((key) => app.text("yarn.lock")?.includes(key)) ||
    app.text("bun.lock")?.includes(`"${name}": [`) === true
  );
}
