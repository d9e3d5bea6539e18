import type { App } from "../app.ts";
import { escapeRegExp, lineOf } from "../diagnostics.ts";
import { entriesAt, stringAt, type Table } from "../values.ts";
import { packageName } from "./requirements.ts";

/** A start command that a script of pyproject.toml gives, and where it is declared. */
export interface ScriptStart {
  line: string;
  server: null;
  file: "pyproject.toml";
  declaredAt: number;
}

/** The name of the only script of pyproject.toml, if it is the project's own. */
export function ownScript(pyproject: Table | undefined): string[] {
  const names = [...entriesAt(pyproject, "project", "scripts"), ...entriesAt(pyproject, "tool", "poetry", "scripts")];
  const [only, ...others] = names.map(([name]) => name);
  const project = stringAt(pyproject, "project", "name") ?? stringAt(pyproject, "tool", "poetry", "name");
  const isOwn = only !== undefined && project !== undefined && packageName(only) === packageName(project);
  return isOwn && others.length === 0 ? [only] : [];
}

/** The first of some scripts of pyproject.toml; called through Python where the project itself is not installed. */
export function projectScript(
  app: App,
  pyproject: Table | undefined,
  names: readonly string[],
  isInstalled: boolean,
): ScriptStart | undefined {
  for (const name of names) {
    for (const table of [
      ["project", "scripts"],
      ["tool", "poetry", "scripts"],
    ]) {
      const target = stringAt(pyproject, ...table, name);
      const [, module, call] = /^([\w.]+):([\w.]+)$/.exec(target ?? "") ?? [];
      if (module === undefined || call === undefined) continue;
      const [first = call] = call.split(".");
      const path =
        isInstalled || hasModule(app, "", module) || !hasModule(app, "src/", module) ? "" : "PYTHONPATH=src ";
      return {
        line: isInstalled ? name : `${path}python -c 'import sys; from ${module} import ${first}; sys.exit(${call}())'`,
        server: null,
        file: "pyproject.toml",
        declaredAt: lineOf(
          app.text("pyproject.toml"),
          new RegExp(`^[ \\t]*["']?${escapeRegExp(name)}["']?\\s*=\\s*["']`, "m"),
        ),
      };
    }
  }
  return undefined;
}

const hasModule = (app: App, folder: string, module: string): boolean => {
  const path = folder + module.replaceAll(".", "/");
  return app.has(`${path}.py`) || app.has(`${path}/__init__.py`);
};
