import { posix } from "node:path";
import type { App } from "../app.ts";
import { optionalToml } from "../manifests.ts";
import { entriesAt, isTable, listAt, type Table, tableAt } from "../values.ts";

/** A Python package's name as PyPI compares it. */
export const packageName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, "-");

const REQUIREMENT = /^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?/;

/** The requirements of production, in the order in which they are looked for. */
const REQUIREMENTS = [
  "requirements.txt",
  ...["production", "prod", "base", "common", "requirements"].map((name) => `requirements/${name}.txt`),
];

/** requirements.txt, else the file of the requirements folder that a deployment needs; undefined when there is neither. */
export const requirementsFile = (app: App): string | undefined => REQUIREMENTS.find((path) => app.has(path));

/** The declared packages of a Python app with their extras, and the names that its lock files add. */
export function pythonDependencies(app: App, pyproject: Table | undefined): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (requirement: unknown) => {
    const [, name, extras = ""] = (typeof requirement === "string" && REQUIREMENT.exec(requirement)) || [];
    if (name === undefined) return;
    found.add(packageName(name));
    for (const extra of extras.split(","))
      if (extra.trim() !== "") found.add(`${packageName(name)}[${packageName(extra.trim())}]`);
  };
  for (const line of requirementLines(app, requirementsFile(app) ?? "requirements.txt")) add(line);
  for (const requirement of listAt(pyproject, "project", "dependencies")) add(requirement);
  for (const [, group] of entriesAt(pyproject, "dependency-groups")) if (Array.isArray(group)) group.forEach(add);
  const poetry = tableAt(pyproject, "tool", "poetry");
  for (const [name, value] of [
    ...entriesAt(poetry, "dependencies"),
    ...entriesAt(poetry, "dev-dependencies"),
    ...groupsOf(poetry),
  ])
    addNamed(name, value, add);
  for (const section of ["packages", "dev-packages"]) {
    for (const [name, value] of entriesAt(optionalToml(app, "Pipfile"), section)) addNamed(name, value, add);
  }
  for (const name of lockedNames(app)) found.add(name);
  if (found.size === 0)
    for (const [, name] of (app.text("setup.py") ?? "").matchAll(
      /["']([A-Za-z][\w.-]*(?:\[[^\]]*\])?)\s*(?:[<>=!~][^"']*)?["']/g,
    ))
      add(name);
  for (const [extra, package_] of EXTRAS) if (found.has(extra)) found.add(package_);
  return found;
}

/** Extras that bring a server with them. */
const EXTRAS: readonly [string, string][] = [
  ["fastapi[standard]", "uvicorn"],
  ["fastapi[all]", "uvicorn"],
  ["fastapi-cli[standard]", "uvicorn"],
  ["litestar[standard]", "uvicorn"],
];

const groupsOf = (poetry: Table): [string, unknown][] =>
  entriesAt(poetry, "group").flatMap(([, group]) => entriesAt(group, "dependencies"));

function addNamed(name: string, value: unknown, add: (requirement: string) => void): void {
  if (name === "python") return;
  const extras = isTable(value) ? listAt(value, "extras").filter((extra) => typeof extra === "string") : [];
  add(extras.length === 0 ? name : `${name}[${extras.join(",")}]`);
}

/** The requirements of a requirements file and of those that it includes with `-r`. */
export const requirementLines = (app: App, path: string): string[] =>
  requirementTexts(app, path).flatMap((text) => {
    const egg = /[#&]egg=([\w.-]+)/.exec(text)?.[1];
    return text.startsWith("-") ? (egg === undefined ? [] : [egg]) : [text];
  });

/** The options in the same files: `--find-links wheels`, `--hash=…`, `-e .`. */
export const requirementOptions = (app: App, path: string): string[] =>
  requirementTexts(app, path).filter((text) => text.startsWith("-"));

function requirementTexts(app: App, path: string, seen: Set<string> = new Set()): string[] {
  if (seen.has(path) || seen.size > 20) return [];
  seen.add(path);
  const folder = path.includes("/") ? `${path.slice(0, path.lastIndexOf("/"))}/` : "";
  return (app.text(path) ?? "").split("\n").flatMap((line) => {
    const text = line.replace(/(^|\s)#.*$/, "").trim();
    const included = /^(?:-r|--requirement)[= ]\s*(\S+)/.exec(text)?.[1];
    return included === undefined ? [text] : requirementTexts(app, posix.normalize(folder + included), seen);
  });
}

/** The names in the app's lock files. */
function lockedNames(app: App): string[] {
  const names: string[] = [];
  for (const file of ["uv.lock", "poetry.lock", "pdm.lock"]) {
    for (const [, name = ""] of (app.text(file) ?? "").matchAll(/^name\s*=\s*"([^"\n]+)"/gm))
      names.push(packageName(name));
  }
  for (const [, name = ""] of (app.text("Pipfile.lock") ?? "").matchAll(/^ {8}"([\w.-]+)": \{/gm))
    names.push(packageName(name));
  return names;
}

/** True when the app depends on a package, by its PyPI name or an extra in brackets. */
export const dependsOn = (dependencies: ReadonlySet<string>, ...names: string[]): boolean =>
  names.some((name) => dependencies.has(name));
