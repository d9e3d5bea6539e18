import type { App } from "../app.ts";
import { type Diagnostics, quoted, suggest } from "../diagnostics.ts";

/** An option that reads variables from a file and fails if it is missing; Node.js ignores a missing `--env-file-if-exists`. */
const ENV_FILE = /(?:^|\s)--env-file(?:=|\s+)['"]?([^\s'"]+)/;

/** Advises against a start command that reads variables from a file, because the file is not uploaded with the app. */
export function suggestEnvironmentFile(
  app: App,
  start: { line: string; file: string; declaredAt: number },
  diagnostics: Diagnostics,
): void {
  const [option = "", file] = ENV_FILE.exec(start.line) ?? [];
  if (file === undefined) return;
  suggest(diagnostics, app, {
    code: "env_file",
    message: `The start command reads variables from ${file} (${quoted(option.trim())}), which is not sent with the app. Remove the option, and set the variables with "slipway env set --env-file ${file}".`,
    file: start.file,
    line: start.declaredAt,
  });
}
