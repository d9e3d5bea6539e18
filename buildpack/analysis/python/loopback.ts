import type { App } from "../app.ts";
import { escapeRegExp, lineAt } from "../diagnostics.ts";
import type { Source } from "../source.ts";
import { LOOPBACK, type Loopback, namedLoopback } from "../suggestions/loopback.ts";
import { ARGUMENTS, gunicornBind } from "./listen.ts";
import { pythonEntry, reachable } from "./sources.ts";

const ADDRESS = `["']${LOOPBACK}["']`;
const CALL = "\\b(?:run|serve|run_app|launch|run_server|start|start_server|run_async|run_simple|Config|listen)\\s*\\(";
const HOST = "\\b(?:host|server_name|address|hostname)\\s*=\\s*";

/** Calls that name the loopback address, or the variable that holds the address. */
const NAMED = [
  new RegExp(`${CALL}${ARGUMENTS}${HOST}(?:${ADDRESS}|([A-Za-z_][\\w.]*)(?=\\s*[,)]))`, "g"),
  new RegExp(`Server\\(\\s*\\(\\s*(?:${ADDRESS}|([A-Za-z_]\\w*))\\s*,`, "g"),
  new RegExp(`\\b(?:\\.run|run_simple|make_server)\\(\\s*${ADDRESS}`, "g"),
  new RegExp(`\\.run\\(\\s*${ADDRESS}`, "g"),
];

const NO_HOST = `(?!${ARGUMENTS}(?:\\b(?:host|fd|uds|sock|unix_socket)\\s*=|\\*))`;

/** Servers that listen on the loopback address by default. */
const DEFAULTS: readonly [RegExp, RegExp][] = [
  [
    /^[ \t]*(?:from|import)\s+(?:flask|quart|sanic|bottle)\b/m,
    new RegExp(`^[ \\t]*\\w*(?:app|application|server)\\.run\\((?!\\s*["'])${NO_HOST}`, "m"),
  ],
  [/^[ \t]*(?:from|import)\s+uvicorn\b/m, new RegExp(`\\buvicorn\\.run\\(${NO_HOST}`)],
  [/^[ \t]*(?:from|import)\s+bottle\b/m, new RegExp(`^[ \\t]*(?:bottle\\.)?run\\(${NO_HOST}`, "m")],
];

/** The place where an app that starts its own server listens on the loopback address. */
export function pythonLoopback(app: App, line: string): Loopback | undefined {
  const entry = pythonEntry(app, line);
  if (entry === undefined) return gunicornLoopback(app, line);
  const sources = reachable(app, entry);
  for (const source of sources) {
    const found = namedLoopback(source, NAMED, (name) => isLoopback(name, sources));
    if (found !== undefined) return found;
  }
  for (const [framework, call] of DEFAULTS) {
    if (!sources.some(({ text }) => framework.test(text))) continue;
    for (const { path, text } of sources) {
      const match = call.exec(text);
      if (match !== null) return { file: path, line: lineAt(text, match.index + match[0].length) };
    }
  }
  return undefined;
}

/** True if a name is assigned the loopback address, or an option with that name has it as its default. */
function isLoopback(name: string, sources: readonly Source[]): boolean {
  const last = escapeRegExp(name.slice(name.lastIndexOf(".") + 1));
  const assignment = new RegExp(`(?<![\\w.])${last}\\s*(?::\\s*str\\s*)?=\\s*${ADDRESS}`);
  const option = new RegExp(`["'](?:--)?${last}["'][^()]{0,300}?\\bdefault\\s*=\\s*${ADDRESS}`);
  return sources.some(({ text }) => assignment.test(text) || option.test(text));
}

function gunicornLoopback(app: App, line: string): Loopback | undefined {
  const bind = gunicornBind(app, line);
  return bind !== undefined && new RegExp(`^${LOOPBACK}$`).test(bind.host) ? bind : undefined;
}
