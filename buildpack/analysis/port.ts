import type { App } from "./app.ts";
import { commandsOf, invocationOf } from "./command.ts";
import { type Diagnostics, quoted, suggest } from "./diagnostics.ts";

/** The port that an app is told in PORT unless it insists on another (docs/detection.md, Port). */
export const portDefault = 8080;

/** A number that the app listens on whatever PORT says, and where it is written. */
export interface FixedPort {
  port: number;
  file: string;
  line: number;
  /** The words of the start command that fix it, where it is not the source that does. */
  words?: string;
}

/** The container's port: the fixed one, with a suggestion, else 8080. */
export function containerPort(app: App, fixed: FixedPort | undefined, diagnostics: Diagnostics): number {
  if (fixed === undefined || fixed.port < 1 || fixed.port > 65_535) return portDefault;
  if (fixed.port === portDefault) return portDefault;
  suggest(diagnostics, app, {
    code: "fixed_port",
    message: sentenceOn(fixed),
    file: fixed.file,
    line: fixed.line,
  });
  return fixed.port;
}

function sentenceOn({ port, words }: FixedPort): string {
  if (words === undefined) {
    return `The app listens on the fixed port ${port}, which is used. Read the port from the environment variable PORT instead.`;
  }
  const found = `The start command fixes the port with ${quoted(words)}, so ${port} is used.`;
  if (words.startsWith("PORT=")) {
    return `${found} Leave it out: the app is told the port in the environment variable PORT.`;
  }
  return `${found} Write ${quoted(words.replace(/\d+(?!.*\d)/, "$PORT"))} there.`;
}

const FLAG =
  /(?:^|\s)(?:--port|--server\.port|--http-port|--bind|--listen|-p|-b|-l|runserver|http\.server)(?:\s+|=)['"]?(?:(?:tcp|http):\/\/)?(?:[\w.*[\]]*:)?(\d{2,5})['"]?(?=\s|$)/;

/** The number that a start command itself fixes, and its words: `--port 3000`, `-b 0.0.0.0:8000`, `PORT=5000 node x`. */
export function portInCommand(line: string): { port: number; words: string } | undefined {
  const last = commandsOf(line).at(-1)?.text ?? "";
  const { rest } = invocationOf(last);
  if (!/\$\{?PORT\b/.test(rest)) {
    const [words = "", flag] = FLAG.exec(rest) ?? [];
    if (flag !== undefined) return { port: Number(flag), words: words.trim() };
  }
  const [words = "", assigned] = [...line.matchAll(/(?<=^|\s|;)PORT=['"]?(\d{2,5})\b/g)].at(-1) ?? [];
  return assigned === undefined ? undefined : { port: Number(assigned), words };
}

/** What every app is told about its address. */
export function serverEnvironment(port: number): Record<string, string> {
  return { PORT: String(port), HOST: "0.0.0.0", HOSTNAME: "0.0.0.0" };
}
