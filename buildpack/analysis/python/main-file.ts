import { type App, rootFiles } from "../app.ts";
import { blankPythonComments } from "../source.ts";
import { imports } from "./modules.ts";

/** True for a source in the root that may be the app and not a tool of the project. */
export const isSource = (path: string): boolean =>
  path.endsWith(".py") &&
  !/^(setup|versioneer|conftest|manage|noxfile|fabfile|tasks|wsgi|asgi|rxconfig|gunicorn[\w.]*|test_.*|.*_test)\.py$/.test(
    path,
  ) &&
  !/^(init|create|setup|seed|populate|reset|migrate|load)_?(db|database|tables?|data)\.py$/.test(path);

/** Matches code that starts a server. */
const SERVES =
  /\b(?:ui\.run|uvicorn\.run|web\.run_app|\w+\.launch|\w+\.serve_forever|bottle\.run|\w*app\w*\.run|run_server)\s*\(|^(?:run|serve)\s*\(/m;

/** main.py, app.py, server.py, else the only source in the root that is executable or starts a server. */
export function mainFile(app: App): string | undefined {
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

/** The package that `python -m` runs. */
export function mainPackage(app: App): { line: string; file: string } | undefined {
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
