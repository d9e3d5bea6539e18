import type { App } from "../app.ts";
import { optionalToml } from "../manifests.ts";
import { entriesAt, isTable, listAt, type Table, tableAt, valueAt } from "../values.ts";
import { lockedNames, type PythonPackages } from "./package-manager.ts";
import { packageName, requirementLines, requirementOptions } from "./requirements.ts";

/** Declared requirements: those that the install command installs, and those that it skips. */
interface Declared {
  installed: unknown[];
  optional: unknown[];
}

/** The packages that a Python app's install command installs, with their extras and the transitive packages of the lock file. */
export function pythonDependencies(
  app: App,
  pyproject: Table | undefined,
  packages: PythonPackages,
): ReadonlySet<string> {
  const { installed, optional } = declared(app, pyproject, packages);
  const leftOut = namesOf(optional);
  const found = new Set([
    ...lockedNames(app, packages.lock).filter((name) => !leftOut.has(name)),
    ...namesOf(installed),
  ]);
  for (const [extra, package_] of EXTRAS) if (found.has(extra)) found.add(package_);
  return found;
}

function declared(app: App, pyproject: Table | undefined, { name, file }: PythonPackages): Declared {
  if (file === null) return { installed: [], optional: [] };
  if (name === "pipenv") {
    const pipfile = optionalToml(app, "Pipfile");
    return tabulated([...entriesAt(pipfile, "packages"), ...entriesAt(pipfile, "dev-packages")]);
  }
  if (name !== "pip") return declaredInPyproject(pyproject, name);
  const lines = file === "setup.py" ? ["."] : requirementLines(app, file);
  const itself = [...lines, ...requirementOptions(app, file)].some((line) => ITSELF.test(line));
  return { installed: itself ? [...lines, ...setupRequirements(app, pyproject)] : lines, optional: [] };
}

/** A line of requirements that installs the app's own package. */
const ITSELF = /^(-e|--editable)?[ =]?\s*\.\/?(\[[^\]]*\])?$/;

function declaredInPyproject(pyproject: Table | undefined, manager: PythonPackages["name"]): Declared {
  const poetry = tableAt(pyproject, "tool", "poetry");
  const main = tabulated([...entriesAt(poetry, "dependencies"), ...entriesAt(poetry, "dev-dependencies")]);
  const installed = [
    ...main.installed,
    ...listAt(pyproject, "project", "dependencies"),
    ...listAt(pyproject, "tool", "uv", "dev-dependencies"),
  ];
  const optional = [
    ...main.optional,
    ...entriesAt(pyproject, "project", "optional-dependencies").flatMap(([extra]) =>
      listAt(pyproject, "project", "optional-dependencies", extra),
    ),
  ];
  for (const [group] of entriesAt(pyproject, "dependency-groups")) {
    const into = manager === "uv" && !isDefaultGroup(pyproject, group) ? optional : installed;
    into.push(...listAt(pyproject, "dependency-groups", group));
  }
  for (const [, group] of entriesAt(poetry, "group")) {
    const { installed: grouped } = tabulated(entriesAt(group, "dependencies"));
    (valueAt(group, "optional") === true ? optional : installed).push(...grouped);
  }
  return { installed, optional };
}

function isDefaultGroup(pyproject: Table | undefined, group: string): boolean {
  const groups = valueAt(pyproject, "tool", "uv", "default-groups") ?? ["dev"];
  return groups === "all" || (Array.isArray(groups) && groups.includes(group));
}

/** The requirements of a table such as `uvicorn = {version = "*", extras = ["standard"]}`. */
function tabulated(entries: readonly [string, unknown][]): Declared {
  const result: Declared = { installed: [], optional: [] };
  for (const [name, value] of entries) {
    if (name === "python") continue;
    const extras = listAt(value, "extras").filter((extra) => typeof extra === "string");
    const into = isTable(value) && value.optional === true ? result.optional : result.installed;
    into.push(extras.length === 0 ? name : `${name}[${extras.join(",")}]`);
  }
  return result;
}

/** The requirements of the app's own package. setup.py is code, so every possible name in it counts. */
function setupRequirements(app: App, pyproject: Table | undefined): unknown[] {
  const cfg = /^install_requires\s*=([^\n]*(?:\n[ \t]+[^\n]*)*)/m.exec(app.text("setup.cfg") ?? "")?.[1] ?? "";
  const words = (app.text("setup.py") ?? "").matchAll(/["']([A-Za-z][\w.-]*(?:\[[^\]]*\])?)\s*(?:[<>=!~][^"']*)?["']/g);
  return [...listAt(pyproject, "project", "dependencies"), ...cfg.split("\n"), ...[...words].map(([, name]) => name)];
}

const REQUIREMENT = /^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?/;

/** The names of requirements, and `name[extra]` for each extra. */
function namesOf(requirements: readonly unknown[]): Set<string> {
  const names = new Set<string>();
  for (const requirement of requirements) {
    const [, name, extras = ""] = (typeof requirement === "string" && REQUIREMENT.exec(requirement)) || [];
    if (name === undefined) continue;
    names.add(packageName(name));
    for (const extra of extras.split(","))
      if (extra.trim() !== "") names.add(`${packageName(name)}[${packageName(extra.trim())}]`);
  }
  return names;
}

/** Extras and packages that include a server. */
const EXTRAS: readonly [string, string][] = [
  ["fastapi[standard]", "uvicorn"],
  ["fastapi[standard-no-fastapi-cloud-cli]", "uvicorn"],
  ["fastapi[all]", "uvicorn"],
  ["fastapi-cli[standard]", "uvicorn"],
  ["litestar[standard]", "uvicorn"],
  ["connexion[uvicorn]", "uvicorn"],
  ...["python-fasthtml", "shiny", "gradio", "nicegui", "chainlit"].map((name): [string, string] => [name, "uvicorn"]),
];

/** True when the app depends on a package, by its PyPI name or an extra in brackets. */
export const dependsOn = (dependencies: ReadonlySet<string>, ...names: string[]): boolean =>
  names.some((name) => dependencies.has(name));
