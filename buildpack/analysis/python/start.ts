import { type App, rootFiles } from "../app.ts";
import { lineOf, listed, NoPlan } from "../diagnostics.ts";
import { procfileEntry } from "../procfile.ts";
import { blankPythonComments } from "../source.ts";
import { shellWord } from "../static-command.ts";
import { stringAt, type Table } from "../values.ts";
import { dependsOn } from "./dependencies.ts";
import { type DjangoProject, djangoBuild, djangoProject, djangoStart } from "./django.ts";
import { packagedApplication, type WebApplication, webApplication } from "./modules.ts";
import { withoutRunner } from "./runner.ts";

/** Where a Python start command was found and what it is. */
export interface PythonStart {
  line: string;
  build: string | null;
  /** The web server that the command needs among the packages. */
  server: "gunicorn" | "uvicorn" | null;
  django: DjangoProject | undefined;
  /** The line that declares the command, for suggestions on it. */
  file: string;
  declaredAt: number;
}

/** The start command by DETECTION's order, `isInstalled` where the install command brings the app's own scripts; throws `NoPlan` (no_start_command) when there is none. */
export function pythonStart(
  app: App,
  pyproject: Table | undefined,
  dependencies: ReadonlySet<string>,
  isInstalled: boolean,
): PythonStart {
  const django = djangoProject(app);
  const build = django === undefined ? null : djangoBuild(django);
  const base = { build, server: null, django, declaredAt: 1 };
  const web = procfileEntry(app, "web");
  if (web !== undefined) {
    return { ...base, line: withoutRunner(app, web.command, pyproject), file: "Procfile", declaredAt: web.line };
  }
  if (django !== undefined) {
    const file = `${django.folder === "" ? "" : `${django.folder}/`}manage.py`;
    return { ...base, line: djangoStart(django), server: django.kind === "wsgi" ? "gunicorn" : "uvicorn", file };
  }
  const entrypoint = stringAt(pyproject, "tool", "fastapi", "entrypoint");
  if (entrypoint !== undefined && /^[\w.]+:[\w.]+$/.test(entrypoint)) {
    const declaredAt = lineOf(app.text("pyproject.toml"), /^[ \t]*entrypoint\s*=/m);
    return {
      ...base,
      line: `uvicorn --host 0.0.0.0 --port $PORT ${entrypoint}`,
      server: "uvicorn",
      file: "pyproject.toml",
      declaredAt,
    };
  }
  const script = projectScript(pyproject, isInstalled);
  if (script !== undefined) {
    return {
      ...base,
      line: script.line,
      file: "pyproject.toml",
      declaredAt: lineOf(app.text("pyproject.toml"), new RegExp(`^[ \\t]*${script.name}\\s*=`, "m")),
    };
  }
  const source = sourceStart(app, dependencies);
  if (source === undefined) throw noStart(app);
  return { ...base, ...source };
}

/** The start of an app that declares none, by what its sources hold: a streamlit page, an application, a file or package to run. */
function sourceStart(
  app: App,
  dependencies: ReadonlySet<string>,
): Pick<PythonStart, "line" | "server" | "file"> | undefined {
  const streamlit = streamlitFile(app, dependencies);
  if (streamlit !== undefined) {
    return {
      server: null,
      line: `streamlit run ${shellWord(streamlit)} --server.address 0.0.0.0 --server.port $PORT --server.headless true`,
      file: streamlit,
    };
  }
  const application = webApplication(app, dependencies);
  if (application !== undefined) return { ...served(application), file: application.file };
  const main = mainFile(app);
  if (main !== undefined) return { server: null, line: `python ${shellWord(main)}`, file: main };
  const module = mainPackage(app);
  if (module !== undefined) return { server: null, ...module };
  const packaged = packagedApplication(app, dependencies);
  if (packaged !== undefined) return { ...served(packaged), file: packaged.file };
  const [only, ...others] = rootFiles(app).filter(isSource);
  if (only !== undefined && others.length === 0) return { server: null, line: `python ${shellWord(only)}`, file: only };
  return undefined;
}

function served({ target, folder, kind }: WebApplication): { line: string; server: "gunicorn" | "uvicorn" } {
  const name = shellWord(target);
  if (kind === "asgi")
    return {
      line: `uvicorn${folder === undefined ? "" : ` --app-dir ${folder}`} --host 0.0.0.0 --port $PORT ${name}`,
      server: "uvicorn",
    };
  return {
    line: `gunicorn${folder === undefined ? "" : ` --chdir ${folder}`} --bind 0.0.0.0:$PORT ${name}`,
    server: "gunicorn",
  };
}

/** The first of project.scripts start, web, serve; called through Python where the project itself is not installed. */
function projectScript(pyproject: Table | undefined, isInstalled: boolean): { name: string; line: string } | undefined {
  for (const name of ["start", "web", "serve"]) {
    for (const table of [
      ["project", "scripts"],
      ["tool", "poetry", "scripts"],
    ]) {
      const target = stringAt(pyproject, ...table, name);
      const [, module, call] = /^([\w.]+):([\w.]+)$/.exec(target ?? "") ?? [];
      if (module === undefined || call === undefined) continue;
      const [first = call] = call.split(".");
      return {
        name,
        line: isInstalled ? name : `python -c 'import sys; from ${module} import ${first}; sys.exit(${call}())'`,
      };
    }
  }
  return undefined;
}

const isSource = (path: string): boolean =>
  path.endsWith(".py") &&
  !/^(setup|versioneer|conftest|manage|noxfile|fabfile|tasks|wsgi|asgi|gunicorn[\w.]*|test_.*|.*_test)\.py$/.test(path);

function streamlitFile(app: App, dependencies: ReadonlySet<string>): string | undefined {
  if (!dependsOn(dependencies, "streamlit")) return undefined;
  const preferred = ["streamlit_app.py", "app.py", "main.py", "Home.py", "home.py"];
  const candidates = [
    ...preferred.filter((path) => app.has(path)),
    ...rootFiles(app).filter((path) => isSource(path) && !preferred.includes(path)),
    ...["src", "app"].flatMap((folder) => preferred.map((name) => `${folder}/${name}`)).filter((path) => app.has(path)),
  ];
  return candidates.find((path) => /^[ \t]*(import|from)\s+streamlit\b/m.test(app.text(path) ?? ""));
}

/** main.py, app.py, server.py, else the only root source that is written to be run. */
function mainFile(app: App): string | undefined {
  const named = ["main.py", "app.py", "server.py", "index.py", "start.py", "run.py", "bot.py"].find((path) =>
    app.has(path),
  );
  if (named !== undefined) return named;
  const runnable = rootFiles(app).filter(
    (path) =>
      isSource(path) && /^if\s+__name__\s*==\s*["']__main__["']/m.test(blankPythonComments(app.text(path) ?? "")),
  );
  if (runnable.length === 1) return runnable[0];
  return ["src/main.py", "src/app.py", "src/server.py", "app/main.py", "app/app.py", "app/server.py"].find((path) =>
    app.has(path),
  );
}

function mainPackage(app: App): { line: string; file: string } | undefined {
  for (const prefix of ["", "src/"]) {
    const packages = app.paths.filter(
      (path) => new RegExp(`^${prefix}[A-Za-z_][\\w-]*/__main__\\.py$`).test(path) && !/^tests?\//.test(path),
    );
    const [file] = packages;
    if (file === undefined) continue;
    const module = file.slice(prefix.length).replace("/__main__.py", "");
    return { line: `${prefix === "" ? "" : "PYTHONPATH=src "}python -m ${module}`, file };
  }
  return undefined;
}

function noStart(app: App): NoPlan {
  return new NoPlan(
    "no_start_command",
    `No start command was found for the Python app in ${app.root === "" ? "the archive" : app.root}: no Procfile with a web: line, no Django project, no FastAPI or Flask application, and no main.py, app.py or server.py. Add a Procfile with a line such as "web: gunicorn app:app". Files seen: ${listed(rootFiles(app), 12)}.`,
  );
}

/** The release command of a Procfile, which is never run (DETECTION: migrations are never run by us). */
export const releaseLine = (app: App): { command: string; line: number } | undefined => procfileEntry(app, "release");
