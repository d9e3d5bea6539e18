import type { App } from "../app.ts";
import { commandsOf, folderOf, invocationOf } from "../command.ts";
import { type Diagnostics, escapeRegExp, lineAt, suggest } from "../diagnostics.ts";
import type { FixedPort } from "../port.ts";
import { blankPythonComments, type Source } from "../source.ts";
import { pythonEntry, reachable } from "./sources.ts";

const READS_PORT = /(environ(\.get)?|getenv|config|env(\.\w+)?|Env)\s*[[(]\s*["']PORT["']|\benviron\.PORT\b/;
/** A field of pydantic's settings, which are read from the environment. */
const SETTINGS_PORT = /\n[ \t]+(port|PORT)\s*:/;

function readsPort(text: string): boolean {
  if (READS_PORT.test(text)) return true;
  const settings = text.indexOf("BaseSettings");
  return settings !== -1 && SETTINGS_PORT.test(text.slice(settings));
}

/** Arguments of a call, with calls among them. */
export const ARGUMENTS = "(?:[^()]|\\([^()]*\\))*?";
const VALUE =
  "(?:(\\d{2,5})(?![\\d.])|(?:int\\()?[\\w.]*(?:environ\\.get|getenv)\\(\\s*[\"']\\w+[\"']\\s*,\\s*[\"']?(\\d{2,5})|([A-Za-z_][\\w.]*))";
const LISTEN = [
  new RegExp(
    `\\b(?:run|serve|run_app|launch|run_server|start|start_server|run_async|Config|ThreadingHTTPServer)\\s*\\(${ARGUMENTS}\\b(?:port|server_port|http_port)\\s*=\\s*${VALUE}`,
    "g",
  ),
  new RegExp(`Server\\(\\s*\\(\\s*(?:["'][^"']*["']|\\w+)\\s*,\\s*${VALUE}`, "g"),
  new RegExp(`\\.run\\(\\s*["'][\\d.:]*["']\\s*,\\s*${VALUE}`, "g"),
  new RegExp(`\\.listen\\(\\s*${VALUE}`, "g"),
  new RegExp(`add_insecure_port\\(\\s*f?["'][^"']*:${VALUE}`, "g"),
];

/** The fixed port of an app that starts its own server: `port=5000` in its entry or the modules that it imports, when none of them reads PORT. */
export function pythonListenPort(app: App, line: string): FixedPort | undefined {
  const entry = pythonEntry(app, line);
  if (entry === undefined) return gunicornBind(app, line);
  const sources = reachable(app, entry);
  if (sources.some(({ text }) => readsPort(text))) return undefined;
  const unknown = new Set<string>();
  for (const { path, text } of sources) {
    for (const pattern of LISTEN) {
      for (const match of text.matchAll(pattern)) {
        const [found, literal, fallback, name = ""] = match;
        const number = literal ?? fallback ?? (unknown.has(name) ? undefined : constantOf(name, sources));
        if (number !== undefined)
          return { port: Number(number), file: path, line: lineAt(text, match.index + found.length) };
        unknown.add(name);
      }
    }
  }
  return defaultPort(sources);
}

/** The port in `bind` of gunicorn's configuration file, which applies if the command line sets none. */
export function gunicornBind(app: App, line: string): (FixedPort & { host: string }) | undefined {
  const { program, rest } = invocationOf(commandsOf(line).at(-1)?.text ?? "");
  const folder = folderOf(line);
  if (folder === undefined || !/(^|\/)gunicorn$/.test(program) || /\s(-b|--bind)\b/.test(rest)) return undefined;
  const named = /\s(?:-c|--config)[ =]\s*(?:python:|file:)?(\S+)/.exec(rest)?.[1] ?? "gunicorn.conf.py";
  const path = [folder, named.replace(/^\.\//, "")].filter(Boolean).join("/");
  const text = blankPythonComments(app.text(path) ?? "");
  const match = /^bind\s*=\s*\[?\s*["']([^"'\n]*):(\d{2,5})["']/m.exec(text);
  const [, host = "", port] = match ?? [];
  return match === null || port === undefined
    ? undefined
    : { host, port: Number(port), file: path, line: lineAt(text, match.index) };
}

/** The number assigned to a name, or the default of an option with that name. */
function constantOf(name: string, sources: readonly Source[]): string | undefined {
  const last = name.slice(name.lastIndexOf(".") + 1);
  if (last === "") return undefined;
  const option = new RegExp(`["'](?:--)?${escapeRegExp(last)}["'][^()]*?\\bdefault\\s*=\\s*(\\d{2,5})(?![\\d.])`);
  const assignment = new RegExp(
    `(?<![\\w.])${escapeRegExp(last)}\\s*(?::\\s*int\\s*)?=\\s*(?:int\\(\\s*)?(?:[\\w.]*(?:environ\\.get|getenv)\\(\\s*["']\\w+["']\\s*,\\s*)?["']?(\\d{2,5})(?![\\d.])`,
  );
  return sources
    .map(({ text }) => (assignment.exec(text) ?? option.exec(text))?.[1])
    .find((found) => found !== undefined);
}

const NO_PORT = `(?!${ARGUMENTS}\\bport\\s*=)`;

const APP_RUN = new RegExp(`^[ \\t]*\\w*(?:app|application|server)\\.run\\(${NO_PORT}`, "m");

/** The default ports of development servers. */
const DEFAULTS: readonly [RegExp, RegExp, number][] = [
  [/\b(flask|quart)\b/i, APP_RUN, 5000],
  [/\bsanic\b/i, APP_RUN, 8000],
  [/\bimport uvicorn\b|\bfrom uvicorn\b/, new RegExp(`\\buvicorn\\.run\\(${NO_PORT}`), 8000],
];

function defaultPort(sources: readonly Source[]): FixedPort | undefined {
  for (const [framework, call, port] of DEFAULTS) {
    if (!sources.some(({ text }) => framework.test(text))) continue;
    for (const { path, text } of sources) {
      const match = call.exec(text);
      if (match !== null) return { port, file: path, line: lineAt(text, match.index + match[0].length) };
    }
  }
  return undefined;
}

/** Advises against `app.run(debug=True)` if the start command runs it. */
export function suggestDebugOff(app: App, line: string, diagnostics: Diagnostics): void {
  const entry = pythonEntry(app, line);
  if (entry === undefined) return;
  const text = blankPythonComments(app.text(entry) ?? "");
  const match = /\.run\((?:[^()]|\([^()]*\))*?\bdebug\s*=\s*True/.exec(text);
  if (match === null) return;
  suggest(diagnostics, app, {
    code: "development_start",
    message: `${app.shown(entry)} starts the development server with debug=True. Start a server such as gunicorn or uvicorn, or turn debug off.`,
    file: entry,
    line: lineAt(text, match.index + match[0].length),
  });
}
