import { type App, rootFiles } from "../app.ts";
import { escapeRegExp } from "../diagnostics.ts";
import { blankPythonComments } from "../source.ts";
import { isVendored } from "../tree.ts";

/** A web application object that a module makes at its top level. */
export interface WebApplication {
  file: string;
  /** `package.module:name`, or a factory call `package.module:create_app()`. */
  target: string;
  /** The folder that must be on the import path, undefined for the root. */
  folder: string | undefined;
  kind: "asgi" | "wsgi";
}

const NAMES = ["main", "app", "server", "wsgi", "asgi", "index", "start"];
const FOLDERS = ["", "src", "app", "api", "backend"];
const ASGI = ["FastAPI", "Starlette", "Quart", "Litestar"];
const WSGI = ["Flask", "Bottle", "FlaskApp", "APIFlask", "OpenAPI", "Dash"];
const MADE = new RegExp(
  `^(\\w+)\\s*(?::[^=\\n]+)?=\\s*(?:\\w+\\s*=\\s*)?(?:[\\w.]+\\.)?(${[...ASGI, ...WSGI].join("|")})\\s*\\(`,
  "m",
);
const FACTORY =
  /^(\w+)\s*(?::[^=\n]+)?=\s*(?:[\w.]+\.)?((?:create|make|get|build|init)_?(?:app|application|server)\w*)\s*\(/m;

/** wsgi.py and asgi.py are written for a server, so that it may be one that they import or have made elsewhere. */
const GIVEN = /^(?:from\s+[\w.]+\s+import\s.*\b)?(app|application)(?=\s*(?:=|,|#|$))/m;

/** The application by DETECTION's search: main, app, server, wsgi, asgi, index, start in the root, src, app, api, backend, then any root source. */
export function webApplication(app: App, dependencies: ReadonlySet<string>): WebApplication | undefined {
  const named = FOLDERS.flatMap((folder) =>
    NAMES.map((name) => `${folder === "" ? "" : `${folder}/`}${name}.py`),
  ).filter((path) => app.has(path));
  const others = rootFiles(app).filter(
    (path) => path.endsWith(".py") && !named.includes(path) && !/^(setup|conftest|test_.*|.*_test)\.py$/.test(path),
  );
  const packages = ["app/__init__.py", "src/__init__.py", "api/__init__.py"].filter((path) => app.has(path));
  const files = [...named, ...others, ...packages].map((path) => ({
    path,
    text: blankPythonComments(app.text(path) ?? ""),
  }));
  for (const { path, text } of files) {
    const [, name, maker = ""] = MADE.exec(text) ?? [];
    if (name !== undefined)
      return application(
        app,
        path,
        text,
        maker === "Dash" ? dashServer(text, name) : name,
        ASGI.includes(maker) ? "asgi" : "wsgi",
      );
  }
  const framework = frameworkOf(dependencies);
  if (framework === undefined) return undefined;
  for (const { path, text } of files) {
    const [, name] = FACTORY.exec(text) ?? ((/(^|\/)[aw]sgi\.py$/.test(path) && GIVEN.exec(text)) || []);
    if (name !== undefined) return application(app, path, text, name, framework);
  }
  for (const { path, text } of files) {
    const factory = FACTORY_DEFINED.exec(text)?.[1];
    if (factory !== undefined && framework === "wsgi") return application(app, path, text, `${factory}()`, framework);
  }
  return undefined;
}

const FACTORY_DEFINED = /^def\s+((?:create|make)_app)\s*\(\s*(?:\)|\w+\s*(?::[^=,)]+)?=|\*)/m;

/** The application of the only package of the root that makes one, whatever the package is called: the last resort before an error. */
export function packagedApplication(app: App, dependencies: ReadonlySet<string>): WebApplication | undefined {
  const framework = frameworkOf(dependencies);
  const found = app.paths
    .filter((path) => /^((src|backend|server)\/)?[A-Za-z_]\w*\/(__init__|main|app|server|wsgi|asgi)\.py$/.test(path))
    .filter((path) => !isVendored(path) && !/(^|\/)(tests?|docs|examples?|scripts|migrations)\//.test(path))
    .flatMap((path) => {
      const text = blankPythonComments(app.text(path) ?? "");
      const [, name, maker = ""] = MADE.exec(text) ?? [];
      if (name !== undefined) {
        const target = maker === "Dash" ? dashServer(text, name) : name;
        return [application(app, path, text, target, ASGI.includes(maker) ? "asgi" : "wsgi")];
      }
      const factory = framework === "wsgi" ? FACTORY_DEFINED.exec(text)?.[1] : undefined;
      return factory === undefined ? [] : [application(app, path, text, `${factory}()`, "wsgi")];
    });
  return found.length === 1 ? found[0] : undefined;
}

/** Dash keeps its WSGI application in `.server`. */
function dashServer(text: string, name: string): string {
  return new RegExp(`^(\\w+)\\s*=\\s*${escapeRegExp(name)}\\.server\\b`, "m").exec(text)?.[1] ?? `${name}.server`;
}

function frameworkOf(dependencies: ReadonlySet<string>): "asgi" | "wsgi" | undefined {
  if (["fastapi", "starlette", "quart", "litestar"].some((name) => dependencies.has(name))) return "asgi";
  return ["flask", "connexion", "apiflask", "bottle", "dash"].some((name) => dependencies.has(name))
    ? "wsgi"
    : undefined;
}

function application(app: App, path: string, text: string, name: string, kind: "asgi" | "wsgi"): WebApplication {
  const slash = path.lastIndexOf("/");
  const own = slash === -1 ? undefined : path.slice(0, slash);
  const [, source] = /^(\w+)\/\w+\//.exec(path) ?? [];
  let folder: string | undefined;
  if (own !== undefined && !path.endsWith("__init__.py") && importsSiblings(app, own, text)) folder = own;
  else if (source !== undefined && !app.has(`${source}/__init__.py`) && !imports(text, source)) folder = source;
  const module = path.slice(folder === undefined ? 0 : folder.length + 1).replace(/(\/__init__)?\.py$/, "");
  return { file: path, target: `${module.replaceAll("/", ".")}:${name}`, folder, kind };
}

const imports = (text: string, module: string): boolean =>
  new RegExp(`^[ \\t]*(?:from|import)\\s+${escapeRegExp(module)}[.\\s]`, "m").test(text);

/** True when a module imports its neighbours by their bare names, so its own folder has to be on the path. */
function importsSiblings(app: App, folder: string, text: string): boolean {
  const itself = [folder.replaceAll("/", "."), folder.slice(folder.lastIndexOf("/") + 1)];
  if (itself.some((module) => imports(text, module)) || /^[ \t]*from\s+\./m.test(text)) return false;
  const siblings = new Set(
    app.paths
      .filter((path) => path.startsWith(`${folder}/`) && path.endsWith(".py"))
      .map((path) => path.slice(folder.length + 1).replace(/(\/.*|\.py)$/, "")),
  );
  return [...text.matchAll(/^[ \t]*(?:from|import)\s+(\w+)/gm)].some(([, name = ""]) => siblings.has(name));
}
