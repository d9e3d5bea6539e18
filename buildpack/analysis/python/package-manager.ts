import type { App } from "../app.ts";
import { type Diagnostics, listed, suggest } from "../diagnostics.ts";
import { optionalJson, optionalToml } from "../manifests.ts";
import { entriesAt, isTable, listAt, type Table, valueAt } from "../values.ts";
import { packageName, requirementsFile } from "./requirements.ts";

type PythonManager = "pip" | "uv" | "poetry" | "pdm" | "pipenv";

const LOCKS: readonly [PythonManager, string][] = [
  ["uv", "uv.lock"],
  ["poetry", "poetry.lock"],
  ["pdm", "pdm.lock"],
  ["pipenv", "Pipfile.lock"],
];

/** The package manager of a Python app and what it installs from; `file` is null where there is nothing to install. */
export interface PythonPackages {
  name: PythonManager;
  lock: string | null;
  file: string | null;
}

/** The package manager by docs/detection.md, Package manager; several locks are reported in the diagnostics. */
export function pythonPackageManager(app: App, pyproject: Table | undefined, diagnostics: Diagnostics): PythonPackages {
  const locks = LOCKS.filter(
    ([name, file]) => app.has(file) && app.has(name === "pipenv" ? "Pipfile" : "pyproject.toml"),
  );
  const chosen = chooseManager(app, pyproject, locks);
  if (locks.length > 1) {
    const surplus = locks.map(([, file]) => file).filter((file) => file !== chosen.lock);
    suggest(diagnostics, app, {
      code: "several_locks",
      message: `Found several lock files (${listed(locks.map(([, file]) => file))}); ${chosen.name} is used with ${chosen.file}. Delete ${listed(surplus)}.`,
      file: surplus[0] ?? "pyproject.toml",
    });
  }
  return chosen;
}

function chooseManager(
  app: App,
  pyproject: Table | undefined,
  locks: readonly (readonly [PythonManager, string])[],
): PythonPackages {
  const managed = (name: PythonManager, file: string): PythonPackages => {
    const lock = locks.find(([manager]) => manager === name)?.[1] ?? null;
    return { name, lock, file: lock ?? file };
  };
  const [first] = locks;
  if (first !== undefined && locks.length === 1) return managed(...first);
  if (app.has("requirements.txt")) return { name: "pip", lock: null, file: "requirements.txt" };
  if (app.has("Pipfile")) return managed("pipenv", "Pipfile");
  if (isTable(valueAt(pyproject, "tool", "poetry"))) return managed("poetry", "pyproject.toml");
  if (isTable(valueAt(pyproject, "project"))) return managed("uv", "pyproject.toml");
  return { name: "pip", lock: null, file: app.has("setup.py") ? "setup.py" : (requirementsFile(app) ?? null) };
}

/** The names of the packages in a lock file. */
export function lockedNames(app: App, lock: string | null): string[] {
  if (lock === null) return [];
  if (lock === "Pipfile.lock") {
    const locked = optionalJson(app, lock);
    return [...entriesAt(locked, "default"), ...entriesAt(locked, "develop")].map(([name]) => packageName(name));
  }
  return [...(app.text(lock) ?? "").matchAll(/^name\s*=\s*"([^"\n]+)"/gm)].map(([, name = ""]) => packageName(name));
}

/** The declared dependencies that a lock file does not name; the first of them, undefined when it holds all. */
export function unlockedDependency(
  app: App,
  pyproject: Table | undefined,
  packages: PythonPackages,
): string | undefined {
  const text = packages.lock === null ? undefined : app.text(packages.lock);
  if (text === undefined || text.length === 0) return undefined;
  const locked = new Set(lockedNames(app, packages.lock));
  return declaredNames(app, pyproject, packages.name).find((name) => !locked.has(name));
}

function declaredNames(app: App, pyproject: Table | undefined, manager: PythonManager): string[] {
  if (manager === "pipenv") {
    const pipfile = optionalToml(app, "Pipfile");
    return [...entriesAt(pipfile, "packages"), ...entriesAt(pipfile, "dev-packages")]
      .filter(([, value]) => !isLocal(value))
      .map(([name]) => packageName(name.replace(/\[.*/, "")));
  }
  const project = listAt(pyproject, "project", "dependencies").flatMap((requirement) => {
    const name = typeof requirement === "string" ? /^\s*([A-Za-z0-9][\w.-]*)/.exec(requirement)?.[1] : undefined;
    return name === undefined ? [] : [packageName(name)];
  });
  if (manager !== "poetry") return project;
  const poetry = entriesAt(pyproject, "tool", "poetry", "dependencies").filter(([, value]) => !isLocal(value));
  return [...project, ...poetry.map(([name]) => packageName(name)).filter((name) => name !== "python")];
}

const isLocal = (value: unknown): boolean =>
  isTable(value) && (Object.hasOwn(value, "path") || Object.hasOwn(value, "git") || Object.hasOwn(value, "optional"));
