import type { App } from "../app.ts";
import { commandsOf, folderOf, invocationOf } from "../command.ts";
import { NoPlan, quoted } from "../diagnostics.ts";
import { missingFileRemedy, missingProgram } from "../start-program.ts";
import { packageName } from "./requirements.ts";

const SERVERS = /(?:^|\/)(?:gunicorn|uvicorn|hypercorn|daphne|waitress-serve|granian)$/;

/** Throws if the file or module of a Procfile's command is not in the archive. Modules that an installed package may provide are accepted. */
export function refuseMissingModule(
  app: App,
  start: { line: string; file: string },
  dependencies: ReadonlySet<string>,
): void {
  if (start.file !== "Procfile") return;
  const { program, words } = invocationOf(commandsOf(start.line).at(-1)?.text ?? "");
  const missing = /(?:^|\/)python[\d.]*$/.test(program)
    ? missingFile(app, start.line, words)
    : SERVERS.test(program)
      ? missingModule(app, words, dependencies)
      : missingProgram(app, start.line);
  if (missing === undefined) return;
  throw new NoPlan(
    "no_start_command",
    `The start command ${quoted(start.line)} in ${app.shown("Procfile")} runs ${app.shown(missing)}, which is not in the archive. ${missingFileRemedy(missing)}`,
    app.shown(missing),
  );
}

function missingFile(app: App, line: string, words: readonly string[]): string | undefined {
  const word = words.slice(1).find((candidate) => !/^-[A-Zuxbv]/.test(candidate));
  const folder = folderOf(line);
  if (word === undefined || folder === undefined || !/^(?:\.\/)*[\w-]+(?:\/[\w-]+)*\.py$/.test(word)) return undefined;
  const path = [folder, word.replace(/^(?:\.\/)+/, "")].filter(Boolean).join("/");
  return app.has(path) ? undefined : path;
}

/** The file of a server's `module:application` if no file of the archive can be that module. */
function missingModule(app: App, words: readonly string[], dependencies: ReadonlySet<string>): string | undefined {
  const module = words.map((word) => /^([A-Za-z_][\w.]*):[A-Za-z_]/.exec(word)?.[1]).find((name) => name !== undefined);
  if (module === undefined) return undefined;
  const path = module.replaceAll(".", "/");
  const isIt = (candidate: string) => `/${candidate}`.endsWith(`/${path}.py`) || `/${candidate}`.includes(`/${path}/`);
  if (app.paths.some(isIt)) return undefined;
  const [first = ""] = module.split(".");
  const name = packageName(first);
  if ([...dependencies].some((dependency) => dependency.startsWith(name))) return undefined;
  return `${path}.py`;
}
