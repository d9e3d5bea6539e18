import { type App, rootFiles } from "../app.ts";
import { escapeRegExp } from "../diagnostics.ts";
import { blankPythonComments } from "../source.ts";
import { isVendored } from "../tree.ts";
import { type Interface, type MadeApplication, madeApplication } from "./applications.ts";
import { dependsOn } from "./dependencies.ts";

/** A web application object that a module makes at its top level. */
export interface WebApplication {
  file: string;
  /** `package.module:name`, or a factory call `package.module:create_app()`. */
  target: string;
  /** The folder that must be on the import path, undefined for the root. */
  folder: string | undefined;
  kind: Interface;
  own: MadeApplication["own"];
  /** True if the target is a function that creates the application. */
  isFactory: boolean;
}

const NAMES = ["main", "app", "server", "wsgi", "asgi", "index", "start"];
const FOLDERS = ["", "src", "app", "api", "backend"];
const FACTORY =
  /^(\w+)\s*(?::[^=\n]+)?=\s*(?:[\w.]+\.)?((?:create|make|get|build|init)_?(?:app|application|server)\w*)\s*\(/m;

/** wsgi.py and asgi.py are written for a server, so their application may be imported or created elsewhere. */
const GIVEN = /^(?:from\s+[\w.]+\s+import\s.*\b)?(app|application)(?=\s*(?:=|,|#|$))/m;

/** The application by docs/detection.md, Start: main, app, server, wsgi, asgi, index, start in the root, src, app, api, backend, then any root source. */
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
    const made = madeApplication(text);
    if (made !== undefined && isServable(made, dependencies)) return application(app, path, text, made);
  }
  const framework = frameworkOf(dependencies);
  if (framework === undefined) return undefined;
  for (const { path, text } of files) {
    const [, name] = FACTORY.exec(text) ?? ((/(^|\/)[aw]sgi\.py$/.test(path) && GIVEN.exec(text)) || []);
    if (name !== undefined) return application(app, path, text, { name, kind: framework, own: undefined });
  }
  for (const { path, text } of files) {
    const factory = FACTORY_DEFINED.exec(text)?.[1];
    if (factory !== undefined) return fromFactory(app, path, text, factory, framework);
  }
  return undefined;
}

/** False if the framework's own command is needed and is not installed. */
const isServable = ({ own }: MadeApplication, dependencies: ReadonlySet<string>): boolean =>
  own === undefined || dependsOn(dependencies, own);

const FACTORY_DEFINED = /^def\s+((?:create|make)_app)\s*\(\s*(?:\)|\w+\s*(?::[^=,)]{1,200})?=|\*)/m;

/** The application of the only package in the root that creates one, with any name: the last attempt before an error. */
export function packagedApplication(app: App, dependencies: ReadonlySet<string>): WebApplication | undefined {
  const framework = frameworkOf(dependencies);
  const found = app.paths
    .filter((path) => /^((src|backend|server)\/)?[A-Za-z_]\w*\/(__init__|main|app|server|wsgi|asgi)\.py$/.test(path))
    .filter((path) => !isVendored(path) && !/(^|\/)(tests?|docs|examples?|scripts|migrations)\//.test(path))
    .flatMap((path) => {
      const text = blankPythonComments(app.text(path) ?? "");
      const made = madeApplication(text);
      if (made !== undefined && isServable(made, dependencies)) return [application(app, path, text, made)];
      if (framework === undefined) return [];
      const name = FACTORY.exec(text)?.[1];
      if (name !== undefined) return [application(app, path, text, { name, kind: framework, own: undefined })];
      const factory = FACTORY_DEFINED.exec(text)?.[1];
      return factory === undefined ? [] : [fromFactory(app, path, text, factory, framework)];
    });
  return found.length === 1 ? found[0] : undefined;
}

/** Gunicorn calls a factory if the target is written as a call; uvicorn needs the option --factory. */
function fromFactory(app: App, path: string, text: string, factory: string, kind: Interface): WebApplication {
  const name = kind === "wsgi" ? `${factory}()` : factory;
  return { ...application(app, path, text, { name, kind, own: undefined }), isFactory: true };
}

const ASGI_FRAMEWORKS = [
  "fastapi",
  "starlette",
  "quart",
  "litestar",
  "sanic",
  "blacksheep",
  "python-fasthtml",
  "shiny",
];
const WSGI_FRAMEWORKS = ["flask", "connexion", "apiflask", "bottle", "dash", "falcon", "pyramid"];

function frameworkOf(dependencies: ReadonlySet<string>): Interface | undefined {
  if (dependsOn(dependencies, ...ASGI_FRAMEWORKS)) return "asgi";
  return dependsOn(dependencies, ...WSGI_FRAMEWORKS) ? "wsgi" : undefined;
}

function application(
  app: App,
  path: string,
  text: string,
  { name, kind, own: server }: MadeApplication,
): WebApplication {
  const slash = path.lastIndexOf("/");
  const own = slash === -1 ? undefined : path.slice(0, slash);
  const [, source] = /^(\w+)\/\w+\//.exec(path) ?? [];
  let folder: string | undefined;
  if (own !== undefined && !path.endsWith("__init__.py") && importsSiblings(app, own, text)) folder = own;
  else if (source !== undefined && !app.has(`${source}/__init__.py`) && !imports(text, source)) folder = source;
  const module = path.slice(folder === undefined ? 0 : folder.length + 1).replace(/(\/__init__)?\.py$/, "");
  return { file: path, target: `${module.replaceAll("/", ".")}:${name}`, folder, kind, own: server, isFactory: false };
}

export const imports = (text: string, module: string): boolean =>
  new RegExp(`^[ \\t]*(?:from|import)\\s+${escapeRegExp(module)}[.\\s]`, "m").test(text);

/** True if a module imports modules of its own folder by their bare names, so that the folder must be on the import path. */
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
