import type { App } from "../app.ts";
import { commandsOf, folderOf, invocationOf } from "../command.ts";
import { escapeRegExp, lineAt, type Notes, suggest } from "../diagnostics.ts";
import { optionalToml } from "../manifests.ts";
import type { FixedPort } from "../port.ts";
import { blankPythonComments, type Source } from "../source.ts";
import { stringAt } from "../values.ts";

/** The source file that `python main.py`, `python -m shop` or a script of pyproject.toml runs, undefined for servers. */
function pythonEntry(app: App, line: string): string | undefined {
  const { program, words } = invocationOf(commandsOf(line).at(-1)?.text ?? "");
  const folder = folderOf(line);
  if (folder === undefined) return undefined;
  const prefix = folder === "" ? "" : `${folder}/`;
  const isPython = /^python[\d.]*$/.test(program.slice(program.lastIndexOf("/") + 1));
  const module = isPython && words.includes("-m") ? words[words.indexOf("-m") + 1] : scriptModule(app, program, words);
  if (module !== undefined) {
    const path = module.replaceAll(".", "/");
    return [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`]
      .flatMap((name) => [prefix + name, `src/${name}`])
      .find((name) => app.has(name));
  }
  if (!isPython) return undefined;
  return words
    .slice(1)
    .filter((word) => !word.startsWith("-"))
    .map((word) => prefix + word.replace(/^\.\//, ""))
    .find((path) => app.has(path));
}

/** The module of a script that pyproject.toml declares, whether it is called by its name or imported by `python -c`. */
function scriptModule(app: App, program: string, words: readonly string[]): string | undefined {
  if (words[1] === "-c") return /\bfrom ([\w.]+) import\b/.exec(words[2] ?? "")?.[1];
  const pyproject = optionalToml(app, "pyproject.toml");
  const target =
    stringAt(pyproject, "project", "scripts", program) ?? stringAt(pyproject, "tool", "poetry", "scripts", program);
  return target?.split(":")[0];
}

const READS_PORT =
  /(environ(\.get)?|getenv|config|env(\.\w+)?|Env)\s*[[(]\s*["']PORT["']|\benviron\.PORT\b|BaseSettings[\s\S]{0,5000}?\n[ \t]+(port|PORT)\s*:/;
const ARGUMENTS = "(?:[^()]|\\([^()]*\\))*?";
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
  if (sources.some(({ text }) => READS_PORT.test(text))) return undefined;
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

/** The number in the `bind` of gunicorn's configuration file, which is read where the command line says nothing. */
function gunicornBind(app: App, line: string): FixedPort | undefined {
  const { program, rest } = invocationOf(commandsOf(line).at(-1)?.text ?? "");
  const folder = folderOf(line);
  if (folder === undefined || !/(^|\/)gunicorn$/.test(program) || /\s(-b|--bind)\b/.test(rest)) return undefined;
  const named = /\s(?:-c|--config)[ =]\s*(?:python:|file:)?(\S+)/.exec(rest)?.[1] ?? "gunicorn.conf.py";
  const path = [folder, named.replace(/^\.\//, "")].filter(Boolean).join("/");
  const text = blankPythonComments(app.text(path) ?? "");
  const match = /^bind\s*=\s*\[?\s*["'][^"'\n]*:(\d{2,5})["']/m.exec(text);
  return match?.[1] === undefined ? undefined : { port: Number(match[1]), file: path, line: lineAt(text, match.index) };
}

/** The entry and the app's own modules that it imports, directly or not; of these without what they do when run by themselves. */
function reachable(app: App, entry: string): Source[] {
  const folderOfFile = (path: string) => path.slice(0, path.lastIndexOf("/") + 1);
  const seen = new Set([entry]);
  const sources: Source[] = [];
  for (const path of seen) {
    if (sources.length >= 100) break;
    const text = blankPythonComments(app.text(path) ?? "");
    sources.push({ path, text: path === entry ? text : text.replace(/^if\s+__name__\s*==[\s\S]*/m, "") });
    for (const [, dot, name = ""] of text.matchAll(/^[ \t]*(?:from|import)\s+(\.)?([\w.]+)/gm)) {
      const folders = dot === undefined ? [folderOfFile(entry), ""] : [folderOfFile(path)];
      const file = folders
        .map((folder) => folder + name.replaceAll(".", "/"))
        .flatMap((module) => [`${module}.py`, `${module}/__init__.py`])
        .find((candidate) => app.has(candidate));
      if (file !== undefined) seen.add(file);
    }
  }
  return sources;
}

/** The number that a name is given in an assignment, or as the default of an option of that name. */
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

/** What a development server listens on when it is told nothing. */
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

/** Advises against `app.run(debug=True)` where that is what the start command runs. */
export function suggestDebugOff(app: App, line: string, notes: Notes): void {
  const entry = pythonEntry(app, line);
  if (entry === undefined) return;
  const text = blankPythonComments(app.text(entry) ?? "");
  const match = /\.run\((?:[^()]|\([^()]*\))*?\bdebug\s*=\s*True/.exec(text);
  if (match === null) return;
  suggest(notes, app, {
    code: "development_start",
    message: `${app.shown(entry)} starts the development server with debug=True. Start a server such as gunicorn or uvicorn, or leave debug off.`,
    file: entry,
    line: lineAt(text, match.index + match[0].length),
  });
}
