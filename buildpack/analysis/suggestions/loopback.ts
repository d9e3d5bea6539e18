import type { App } from "../app.ts";
import { commandsOf, invocationOf } from "../command.ts";
import { type Diagnostics, lineAt, quoted, suggest } from "../diagnostics.ts";
import type { Source } from "../source.ts";

/** The place where a source listens on the loopback address, which cannot be reached from outside the container. */
export interface Loopback {
  file: string;
  line: number;
}

/** The host names and addresses of the loopback interface, as a part of a regular expression. */
export const LOOPBACK = "(?:localhost|127\\.0\\.0\\.1|\\[?::1\\]?)";

const OPTION = new RegExp(
  `(?:^|\\s)(?:--?(?:host|hostname|bind|address|ip|listen|server\\.address|H|b|a|l)(?:\\s+|=)|runserver\\s+)['"]?(?:(?:tcp|http)://)?${LOOPBACK}(?=[:'"\\s]|$)[^\\s]*`,
);
const ASSIGNED = new RegExp(`(?<=^|[\\s;])\\w*(?:HOST|HOSTNAME|ADDRESS)=['"]?${LOOPBACK}(?=['"\\s;]|$)`);

/** Servers that listen on the loopback address unless an option sets another address. */
const DEFAULTS: readonly { command: RegExp; option: RegExp; write: string }[] = [
  { command: /^(?:\S*\/)?(?:hypercorn|daphne)(?=\s)/, option: /\s(?:-b|--bind)\b/, write: "--bind 0.0.0.0:$PORT" },
  { command: /^(?:\S*\/)?sanic(?=\s)/, option: /\s(?:-H|--host|-u|--unix)\b/, write: "--host 0.0.0.0" },
  { command: /^(?:\S*\/)?fastapi dev(?=\s|$)/, option: /\s--host\b/, write: "--host 0.0.0.0" },
  { command: /\bmanage\.py runserver(?=\s|$)/, option: /\srunserver\s+(?:-\S+\s+)*\S*[.:]/, write: "0.0.0.0:$PORT" },
];

/** The part of a start command that makes the app listen on the loopback address, and its replacement. */
function inCommand(line: string): { words: string; write: string } | undefined {
  const { rest } = invocationOf(commandsOf(line).at(-1)?.text ?? "");
  const words = OPTION.exec(rest)?.[0].trim() ?? ASSIGNED.exec(line)?.[0];
  if (words !== undefined) return { words, write: words.replace(new RegExp(LOOPBACK), "0.0.0.0") };
  const found = DEFAULTS.find(({ command, option }) => command.test(rest) && !option.test(rest));
  return found === undefined ? undefined : { words: rest, write: found.write };
}

/** Advises against listening on the loopback address, where the start command or a source does. */
export function suggestLoopback(
  app: App,
  start: { line: string; file: string; declaredAt: number },
  found: Loopback | undefined,
  diagnostics: Diagnostics,
): void {
  // A development server must be replaced completely, and a suggestion already says so.
  if (diagnostics.suggestions.some(({ code }) => code === "development_start")) return;
  const command = inCommand(start.line);
  const why = "which cannot be reached from outside the app's container, so the health check will fail";
  if (command !== undefined) {
    suggest(diagnostics, app, {
      code: "loopback_address",
      message: `The start command makes the app listen on the loopback address (${quoted(command.words)}), ${why}. Write ${quoted(command.write)} there.`,
      file: start.file,
      line: start.declaredAt,
    });
  } else if (found !== undefined) {
    suggest(diagnostics, app, {
      code: "loopback_address",
      message: `The app listens on the loopback address, ${why}. Listen on the host "0.0.0.0" instead.`,
      file: found.file,
      line: found.line,
    });
  }
}

/**
 * The first place where one of the patterns finds a loopback address in a source: written there, or behind the name in the
 * pattern's first group. Each name is looked up once.
 */
export function namedLoopback(
  { path, text }: Source,
  patterns: readonly RegExp[],
  isLoopback: (name: string) => boolean,
): Loopback | undefined {
  const harmless = new Set<string>();
  for (const pattern of patterns) {
    for (const { 0: found, 1: name, index } of text.matchAll(pattern)) {
      if (name !== undefined && (harmless.has(name) || !isLoopback(name))) harmless.add(name);
      else return { file: path, line: lineAt(text, index + found.length) };
    }
  }
  return undefined;
}
