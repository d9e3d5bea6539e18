import type { App } from "./app.ts";
import { commandsOf, invocationOf } from "./command.ts";
import { type Diagnostics, quoted, suggest } from "./diagnostics.ts";

/** The value of PORT, unless the app uses a fixed port (docs/detection.md, Port). */
export const portDefault = 8080;

/** A port that the app listens on regardless of PORT, and where it is written. */
export interface FixedPort {
  port: number;
  file: string;
  line: number;
  /** The part of the start command that sets it, if a source file does not. */
  words?: string;
}

/** The container's port: the app's fixed port, with a suggestion, else 8080. */
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
  const found = `The start command sets the port with ${quoted(words)}, so ${port} is used.`;
  if (words.startsWith("PORT=")) {
    return `${found} Remove it: the app gets its port in the environment variable PORT.`;
  }
  return `${found} Write ${quoted(words.replace(/\d+(?!.*\d)/, "$PORT"))} there.`;
}

const FLAG =
  /(?:^|\s)(?:--port|--server\.port|--http-port|--bind|--listen|-p|-b|-l|runserver|http\.server)(?:\s+|=)['"]?(?:(?:tcp|http):\/\/)?(?:[\w.*[\]]*:)?(\d{2,5})['"]?(?=\s|$)/;

/** The port that a start command sets, and the part that sets it: `--port 3000`, `-b 0.0.0.0:8000`, `PORT=5000 node x`. */
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

/** The environment variables that tell every app its address. */
export function serverEnvironment(port: number): Record<string, string> {
  return { PORT: String(port), HOST: "0.0.0.0", HOSTNAME: "0.0.0.0" };
}
