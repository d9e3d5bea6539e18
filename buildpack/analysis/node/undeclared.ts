import { builtinModules } from "node:module";
import type { App } from "../app.ts";
import { type Diagnostics, lineAt, suggest } from "../diagnostics.ts";
import { optionalJson } from "../manifests.ts";
import { isVendored } from "../tree.ts";
import { entriesAt, stringAt, type Table, valueAt } from "../values.ts";
import { dependenciesOf } from "./dependencies.ts";
import { nodeEntry, reachable } from "./sources.ts";

/** Imports that run when a file is loaded. Type-only imports are excluded, and so are imports inside a block, which may be optional. */
const IMPORT =
  /^(?:import|export)\s(?!type\s)[^"'`;()]{0,500}?\bfrom\s*["']([^"'\n]+)["']|^import\s*["']([^"'\n]+)["']|^(?:const|let|var)\s[^=;"'`]{1,300}=\s*(?:require|await import)\s*\(\s*["']([^"'\n]+)["']\s*\)/gm;
const NAME = /^(?:@[a-z0-9][\w.~-]*\/)?[a-z0-9][\w.~-]*$/i;
/** Built-in modules of Node.js and Bun. */
const BUILTIN: ReadonlySet<string> = new Set([...builtinModules, "bun"]);

/** Suggests declaring a package that the app imports when it is loaded and no manifest declares. */
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

/** The package of an import; undefined for files, aliases and built-in modules. */
function packageOf(specifier: string): string | undefined {
  const [first = "", second = ""] = specifier.split("/");
  const name = first.startsWith("@") ? `${first}/${second}` : first;
  return NAME.test(name) && !BUILTIN.has(name) ? name : undefined;
}

/** The dependencies that the archive's manifests declare, and the names of the archive's own packages. */
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

/** True for a name that a compiler configuration maps to files, or that is a folder of the app. */
function isAlias(app: App, name: string): boolean {
  const [first = name] = name.split("/");
  if (["", "src/"].some((folder) => app.hasFolder(folder + first))) return true;
  return CONFIGURATIONS.some((path) => app.text(path)?.includes(`"${first}`));
}

/** True if the lock file installs a package at the top level of node_modules, declared or not; pnpm links declared packages only. */
function isLocked(app: App, name: string, manager: string): boolean {
  if (manager === "pnpm") return false;
  return (
    app.text("package-lock.json")?.includes(`"node_modules/${name}"`) === true ||
    [`\n${name}@`, `\n"${name}@`].some((key) => app.text("yarn.lock")?.includes(key)) ||
    app.text("bun.lock")?.includes(`"${name}": [`) === true
  );
}
