import { escapeRegExp } from "../diagnostics.ts";

/** The interface between a Python web server and an application. */
export type Interface = "asgi" | "wsgi";

/** An application object that a module creates at its top level; `own` if its framework serves it with its own command. */
export interface MadeApplication {
  name: string;
  kind: Interface;
  own: "sanic" | undefined;
}

interface Maker {
  kind: Interface;
  /** The module that must be imported if the name is common; any module if the name is unique. */
  from?: string;
}

/** The classes and functions whose result is an application. */
const MAKERS: readonly [string, Maker][] = [
  ...["FastAPI", "Starlette", "Quart", "Litestar", "Starlite", "Sanic", "FastHTML", "fast_app"].map(
    (name): [string, Maker] => [name, { kind: "asgi" }],
  ),
  ...["Flask", "Bottle", "FlaskApp", "APIFlask", "OpenAPI", "Dash", "make_wsgi_app"].map((name): [string, Maker] => [
    name,
    { kind: "wsgi" },
  ]),
  ["get_asgi_application", { kind: "asgi", from: "django" }],
  ["get_wsgi_application", { kind: "wsgi", from: "django" }],
  ["default_app", { kind: "wsgi", from: "bottle" }],
  ["AsyncApp", { kind: "asgi", from: "connexion" }],
  ["Application", { kind: "asgi", from: "blacksheep" }],
  ["Esmerald", { kind: "asgi", from: "esmerald" }],
  ["App", { kind: "asgi", from: "shiny" }],
  ["App", { kind: "asgi", from: "falcon.asgi" }],
  ["App", { kind: "wsgi", from: "falcon" }],
  ["API", { kind: "asgi", from: "responder" }],
  ["API", { kind: "wsgi", from: "falcon" }],
];

const NAMES = [...new Set(MAKERS.map(([name]) => name))].join("|");
const TYPE = "(?:\\s*:[^=\\n]+)?";
/** `app = Flask(…)`, `app: Flask = trace(Flask(…))`, `app, route = fast_app(…)`, `app = application = Flask(…)`. */
const MADE = new RegExp(
  `^(\\w+)(?:[ \\t]*,[ \\t]*\\w+)*${TYPE}\\s*=\\s*(?:\\w+\\s*=\\s*)?(?:\\(\\s*)?(?:[\\w.]+\\(\\s*(?:app\\s*=\\s*)?){0,4}([\\w.]*?)(${NAMES})\\s*\\(`,
  "gm",
);

/** Wrappers that take an application and return one, with the interface of the result if it differs. */
const WRAPPERS: readonly [string, Interface | undefined][] = [
  ["ASGIApp", "asgi"],
  ["AsyncASGIApp", "asgi"],
  ["WsgiToAsgi", "asgi"],
  ["WSGIMiddleware", "asgi"],
  ["WSGIApp", "wsgi"],
  ["ASGIMiddleware", "wsgi"],
  ["ProxyFix", undefined],
  ["WhiteNoise", undefined],
  ["mount_gradio_app", "asgi"],
  ["\\w*Middleware", undefined],
];

/** True for a module, given without its comments, that makes an application at its top level. */
export const makesApplication = (text: string): boolean => madeApplication(text) !== undefined;

/** The application that a module creates at its top level, including its wrappers. */
export function madeApplication(text: string): MadeApplication | undefined {
  for (const { 0: found, 1: name = "", 2: qualifier = "", 3: maker = "", index } of text.matchAll(MADE)) {
    const known = MAKERS.find(
      ([candidate, { from }]) => candidate === maker && (from === undefined || isImported(text, from, qualifier)),
    );
    if (known === undefined) continue;
    const made: MadeApplication = { name, kind: known[1].kind, own: maker === "Sanic" ? "sanic" : undefined };
    if (maker === "Dash") return { ...made, name: dashServer(text, name) };
    return wrapped(text.slice(index + found.length), made);
  }
  return undefined;
}

/** True if a name comes from a module: it is qualified with the module's name, or the text imports from the module. */
function isImported(text: string, module: string, qualifier: string): boolean {
  if (qualifier !== "") return qualifier === `${module}.`;
  return new RegExp(`^from\\s+${escapeRegExp(module)}(?:\\.\\w+)*\\s+import\\b`, "m").test(text);
}

/** Dash keeps its WSGI application in `.server`. */
function dashServer(text: string, name: string): string {
  return new RegExp(`^(\\w+)\\s*=\\s*${escapeRegExp(name)}\\.server\\b`, "m").exec(text)?.[1] ?? `${name}.server`;
}

const WRAPPED = new RegExp(
  `^(\\w+)${TYPE}\\s*=\\s*(?:[\\w.]+\\.)?(${WRAPPERS.map(([name]) => name).join("|")})\\s*\\(([^()]*)`,
  "gm",
);

/** The application that wraps an earlier one in the same module: `socket_app = socketio.ASGIApp(sio, app)`. */
function wrapped(rest: string, made: MadeApplication): MadeApplication {
  let result = made;
  for (const [, name = "", wrapper = "", inside = ""] of rest.matchAll(WRAPPED)) {
    if (!new RegExp(`\\b${escapeRegExp(result.name)}\\b`).test(inside)) continue;
    const kind = WRAPPERS.find(([candidate]) => new RegExp(`^(?:${candidate})$`).test(wrapper))?.[1];
    result = { name, kind: kind ?? result.kind, own: undefined };
  }
  return result;
}
