import { type App, rootFiles } from "../app.ts";
import { escapeRegExp, lineOf, listed, NoPlan } from "../diagnostics.ts";
import { procfileEntry } from "../procfile.ts";
import { blankPythonComments } from "../source.ts";
import { shellWord } from "../static-command.ts";
import { entriesAt, stringAt, type Table } from "../values.ts";
import { dependsOn } from "./dependencies.ts";
import { type DjangoProject, djangoBuild, djangoProject, djangoStart } from "./django.ts";
import { imports, packagedApplication, type WebApplication, webApplication } from "./modules.ts";
import { packageName } from "./requirements.ts";
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

/** The start of an app that declares none, by what its sources hold: a streamlit page, an application, a file or package to run. */
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

/** The name of the only script of pyproject.toml, if it is the project's own. */
function ownScript(pyproject: Table | undefined): string[] {
  const names = [...entriesAt(pyproject, "project", "scripts"), ...entriesAt(pyproject, "tool", "poetry", "scripts")];
  const [only, ...others] = names.map(([name]) => name);
  const project = stringAt(pyproject, "project", "name") ?? stringAt(pyproject, "tool", "poetry", "name");
  const isOwn = only !== undefined && project !== undefined && packageName(only) === packageName(project);
  return isOwn && others.length === 0 ? [only] : [];
}

/** The first of some scripts of pyproject.toml; called through Python where the project itself is not installed. */
function projectScript(
  app: App,
  pyproject: Table | undefined,
  names: readonly string[],
  isInstalled: boolean,
): FoundStart | undefined {
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

const isSource = (path: string): boolean =>
  path.endsWith(".py") &&
  !/^(setup|versioneer|conftest|manage|noxfile|fabfile|tasks|wsgi|asgi|gunicorn[\w.]*|test_.*|.*_test)\.py$/.test(path);

/** Frameworks whose own command runs a page, and how it is recognized. */
const PAGES: readonly { framework: string; page: RegExp; names: readonly string[]; line: (file: string) => string }[] =
  [
    {
      framework: "streamlit",
      page: /^[ \t]*(import|from)\s+streamlit\b/m,
      names: ["streamlit_app.py", "app.py", "main.py", "Home.py", "home.py"],
      line: (file) => `streamlit run ${file} --server.address 0.0.0.0 --server.port $PORT --server.headless true`,
    },
    {
      framework: "chainlit",
      page: /^@(?:cl|chainlit)\.\w/m,
      names: ["chainlit_app.py", "app.py", "main.py"],
      line: (file) => `chainlit run ${file} --host 0.0.0.0 --port $PORT --headless`,
    },
  ];

function pageStart(app: App, dependencies: ReadonlySet<string>): { line: string; file: string } | undefined {
  for (const { framework, page, names, line } of PAGES) {
    if (!dependsOn(dependencies, framework)) continue;
    const candidates = [
      ...names.filter((path) => app.has(path)),
      ...rootFiles(app).filter((path) => isSource(path) && !names.includes(path)),
      ...["src", "app"].flatMap((folder) => names.map((name) => `${folder}/${name}`)).filter((path) => app.has(path)),
    ];
    // A page that another application serves under a path of its own is not started by itself.
    if (candidates.some((path) => app.text(path)?.includes(`mount_${framework}(`))) continue;
    const file = candidates.find((path) => page.test(app.text(path) ?? ""));
    if (file !== undefined) return { line: line(shellWord(file)), file };
  }
  return undefined;
}

/** What a source does to serve by itself. */
const SERVES =
  /\b(?:ui\.run|uvicorn\.run|web\.run_app|\w+\.launch|\w+\.serve_forever|bottle\.run|\w*app\w*\.run|run_server)\s*\(|^(?:run|serve)\s*\(/m;

/** main.py, app.py, server.py, else the only root source that is written to be run or that serves. */
function mainFile(app: App): string | undefined {
  const text = (path: string) => blankPythonComments(app.text(path) ?? "");
  const named = ["main.py", "app.py", "server.py", "index.py", "start.py", "run.py", "bot.py"].filter((path) =>
    app.has(path),
  );
  const [first] = named;
  if (first !== undefined) {
    const serving = named.find((path) => SERVES.test(text(path)));
    return serving === undefined || imports(text(first), serving.replace(/\.py$/, "")) ? first : serving;
  }
  const sources = rootFiles(app).filter(isSource);
  for (const pattern of [/^if\s+__name__\s*==\s*["']__main__["']/m, SERVES]) {
    const [only, ...others] = sources.filter((path) => pattern.test(text(path)));
    if (only !== undefined && others.length === 0) return only;
  }
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
    `No start command was found for the Python app in ${app.root === "" ? "the archive" : app.root}: no Procfile with a web: line, no Django project, no FastAPI, Flask or other web application, and no main.py, app.py or server.py. Add a Procfile with a line such as "web: gunicorn app:app". Files seen: ${listed(rootFiles(app), 12)}.`,
  );
}

/** The release command of a Procfile, which is never run (docs/detection.md, Build). */
export const releaseLine = (app: App): { command: string; line: number } | undefined => procfileEntry(app, "release");
