import type { App } from "../app.ts";
import { type Diagnostics, lineOf, suggest } from "../diagnostics.ts";
import { optionalToml } from "../manifests.ts";
import { entriesAt, stringAt, type Table, tableAt, valueAt } from "../values.ts";
import { type PythonPackages, unlockedDependency } from "./package-manager.ts";
import { requirementFiles, requirementLines, requirementOptions } from "./requirements.ts";

/** The install command and the files that it reads (null: the whole tree). */
export interface PythonInstall {
  command: string | null;
  manifests: string[] | null;
}

const LOCK_OF = { uv: "uv.lock", poetry: "poetry.lock", pdm: "pdm.lock", pipenv: "Pipfile.lock" } as const;
const COPIED =
  /^(requirements[^/]*\.(txt|in)|requirements\/.*|constraints[^/]*\.txt|pyproject\.toml|uv\.toml|uv\.lock|poetry\.(lock|toml)|pdm\.(lock|toml)|Pipfile|Pipfile\.lock|setup\.(py|cfg)|\.python-version|pip\.conf)$/;

/** How a Python app's packages are installed; a missing or stale lock file is reported in the diagnostics. */
export function pythonInstall(
  app: App,
  pyproject: Table | undefined,
  packages: PythonPackages,
  diagnostics: Diagnostics,
): PythonInstall {
  if (packages.file === null) return { command: null, manifests: [] };
  const inStep = lockInStep(app, pyproject, packages, diagnostics);
  const root = installsItself(app, pyproject, packages);
  const command = {
    pip: packages.file === "setup.py" ? "pip install ." : `pip install -r ${packages.file}`,
    uv: inStep ? "uv sync --frozen" : "uv sync",
    poetry: `${packages.lock !== null && !inStep ? "poetry lock && " : ""}poetry install --no-interaction${root ? "" : " --no-root"}`,
    pdm: inStep ? "pdm install --frozen-lockfile" : "pdm install",
    pipenv: inStep ? "pipenv sync --dev" : "pipenv install --dev",
  }[packages.name];
  return {
    command,
    manifests: root || readsTree(app, pyproject, packages) ? null : manifestsOf(app, packages),
  };
}

function manifestsOf(app: App, { name, file }: PythonPackages): string[] {
  const named = name === "pip" && file !== null ? requirementFiles(app, file) : new Set();
  return app.paths.filter((path) => COPIED.test(path) || named.has(path));
}

/** True if requirements.txt configures package sources, so that added packages must be installed with it. False if it has hashes, because pip would then require hashes of the added packages too. */
export function namesIndex(app: App, packages: PythonPackages): boolean {
  if (packages.name !== "pip" || packages.file === null || packages.file === "setup.py") return false;
  const options = requirementOptions(app, packages.file);
  if ([...options, ...requirementLines(app, packages.file)].some((text) => text.includes("--hash"))) return false;
  return options.some((option) =>
    /^(-i|--index-url|--extra-index-url|--no-index|-f|--find-links)(?=[ =]|$)/.test(option),
  );
}

/** True if a lock file exists and contains every declared dependency. */
function lockInStep(
  app: App,
  pyproject: Table | undefined,
  packages: PythonPackages,
  diagnostics: Diagnostics,
): boolean {
  if (packages.name === "pip") return true;
  const lock = LOCK_OF[packages.name];
  const file = packages.lock ?? packages.file ?? "pyproject.toml";
  if (packages.lock === null) {
    if (!declaresAny(app, pyproject, packages)) return false;
    suggest(diagnostics, app, {
      code: "no_lock_file",
      message: `${file} has no ${lock} next to it, so each build may install different versions. Run ${packages.name} lock and commit the ${lock} that it writes.`,
      file,
    });
    return false;
  }
  const missing = unlockedDependency(app, pyproject, packages);
  if (missing === undefined) return true;
  suggest(diagnostics, app, {
    code: "lock_out_of_step",
    message: `${lock} does not hold ${missing}, which the app declares, so the versions are resolved again. Run ${packages.name} lock and commit ${lock}.`,
    file: lock,
  });
  return false;
}

function declaresAny(app: App, pyproject: Table | undefined, packages: PythonPackages): boolean {
  if (packages.name === "pipenv") {
    const pipfile = optionalToml(app, "Pipfile");
    return [...entriesAt(pipfile, "packages"), ...entriesAt(pipfile, "dev-packages")].length > 0;
  }
  const project = valueAt(pyproject, "project", "dependencies");
  const poetry = Object.keys(tableAt(pyproject, "tool", "poetry", "dependencies")).filter((name) => name !== "python");
  return (
    (Array.isArray(project) && project.length > 0) ||
    poetry.length > 0 ||
    Object.keys(tableAt(pyproject, "dependency-groups")).length > 0
  );
}

/** True if the install builds the app itself as a package: it then needs the sources and installs the app's scripts. */
export function installsItself(app: App, pyproject: Table | undefined, packages: PythonPackages): boolean {
  if (packages.name === "poetry") return poetryPackage(app, pyproject);
  const builds = valueAt(pyproject, "build-system") !== undefined;
  if (packages.name === "uv") return (valueAt(pyproject, "tool", "uv", "package") ?? builds) === true;
  return packages.file === "setup.py" || (packages.name === "pdm" && builds);
}

/** Poetry fails if it cannot find the project's package or readme. */
function poetryPackage(app: App, pyproject: Table | undefined): boolean {
  const poetry = tableAt(pyproject, "tool", "poetry");
  const readme = stringAt(poetry, "readme") ?? stringAt(pyproject, "project", "readme");
  if (poetry["package-mode"] === false || (readme !== undefined && !app.has(readme))) return false;
  if (Array.isArray(poetry.packages)) return true;
  const name = (stringAt(poetry, "name") ?? stringAt(pyproject, "project", "name"))
    ?.toLowerCase()
    .replace(/[-.]/g, "_");
  if (name === undefined) return false;
  return [`${name}/__init__.py`, `src/${name}/__init__.py`, `${name}.py`].some((path) => app.has(path));
}

/** True when requirements are folders or files of the archive itself. */
function readsTree(app: App, pyproject: Table | undefined, packages: PythonPackages): boolean {
  if (packages.name === "pip") {
    const file = packages.file ?? "requirements.txt";
    const options = requirementOptions(app, file);
    if (options.some((option) => /^(-e|--editable)[ =]\s*(?!git|\w+\+)/.test(option))) return true;
    if (options.some((option) => /^(-f|--find-links)[ =]\s*(?!https?:)/.test(option))) return true;
    return requirementLines(app, file).some((line) => /^(\.|file:|[\w./-]+\.(whl|tar\.gz|zip)$)/.test(line));
  }
  if (packages.name === "uv" && valueAt(pyproject, "tool", "uv", "workspace") !== undefined) return true;
  const text = app.text(packages.name === "pipenv" ? "Pipfile" : "pyproject.toml");
  return lineOf(text, /\bpath\s*=\s*["']/) > 1;
}
