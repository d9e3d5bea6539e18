import { type App, rootFiles } from "../app.ts";
import { lineOf, listed, NoPlan } from "../diagnostics.ts";
import { procfileEntry } from "../procfile.ts";
import { shellWord } from "../static-command.ts";
import { stringAt, type Table } from "../values.ts";
import { type DjangoProject, djangoBuild, djangoProject, djangoStart } from "./django.ts";
import { isSource, mainFile, mainPackage } from "./main-file.ts";
import { packagedApplication, type WebApplication, webApplication } from "./modules.ts";
import { pageStart } from "./pages.ts";
import { ownScript, projectScript } from "./project-script.ts";
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

/** The start command by docs/detection.md, Start, `isInstalled` where the install command brings the app's own scripts; throws `NoPlan` (no_start_command) when there is none. */
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
  const script = projectScript(app, pyproject, ["start", "web", "serve"], isInstalled);
  if (script !== undefined) return { ...base, ...script };
  const source = sourceStart(app, dependencies, () => projectScript(app, pyproject, ownScript(pyproject), isInstalled));
  if (source === undefined) throw noStart(app);
  return { ...base, ...source };
}

/** The start command of an app that declares none, derived from its sources: a Streamlit page, an application, a file or package to run. */
function sourceStart(
  app: App,
  dependencies: ReadonlySet<string>,
  ownScriptStart: () => FoundStart | undefined,
): FoundStart | undefined {
  const page = pageStart(app, dependencies);
  if (page !== undefined) return { server: null, ...page };
  const application = webApplication(app, dependencies);
  if (application !== undefined) return { ...served(application), file: application.file };
  const packaged = packagedApplication(app, dependencies);
  const script = packaged === undefined ? ownScriptStart() : undefined;
  if (script !== undefined) return script;
  const main = mainFile(app);
  if (main !== undefined) return { server: null, line: `python ${shellWord(main)}`, file: main };
  const module = mainPackage(app);
  if (module !== undefined) return { server: null, ...module };
  if (packaged !== undefined) return { ...served(packaged), file: packaged.file };
  const [only, ...others] = rootFiles(app).filter(isSource);
  if (only !== undefined && others.length === 0) return { server: null, line: `python ${shellWord(only)}`, file: only };
  return undefined;
}

type FoundStart = Pick<PythonStart, "line" | "server" | "file"> & Partial<Pick<PythonStart, "declaredAt">>;

function served({ target, folder, kind, own, isFactory }: WebApplication): Pick<PythonStart, "line" | "server"> {
  const name = shellWord(target);
  if (own === "sanic") {
    const path = folder === undefined ? "" : `PYTHONPATH=${folder} `;
    return { line: `${path}sanic ${name} --host 0.0.0.0 --port $PORT`, server: null };
  }
  if (kind === "asgi") {
    const options = `${isFactory ? " --factory" : ""}${folder === undefined ? "" : ` --app-dir ${folder}`}`;
    return { line: `uvicorn${options} --host 0.0.0.0 --port $PORT ${name}`, server: "uvicorn" };
  }
  return {
    line: `gunicorn${folder === undefined ? "" : ` --chdir ${folder}`} --bind 0.0.0.0:$PORT ${name}`,
    server: "gunicorn",
  };
}

function noStart(app: App): NoPlan {
  return new NoPlan(
    "no_start_command",
    `No start command was found for the Python app in ${app.root === "" ? "the archive" : app.root}: no Procfile with a web: line, no Django project, no FastAPI, Flask or other web application, and no main.py, app.py or server.py. Add a Procfile with a line such as "web: gunicorn app:app". Files seen: ${listed(rootFiles(app), 12)}.`,
  );
}

/** The release command of a Procfile, which is never run (docs/detection.md, Build). */
export const releaseLine = (app: App): { command: string; line: number } | undefined => procfileEntry(app, "release");
