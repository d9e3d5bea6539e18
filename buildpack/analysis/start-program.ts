import type { App } from "./app.ts";
import { commandsOf, folderOf, invocationOf } from "./command.ts";

/** Folders that an install or build creates. */
const CREATED = /^(?:node_modules|v?env|vendor|dist|build|out|target)\//;

/** The path, relative to the root, of a program that a start command names by its path and that the archive does not hold; undefined if it is there or unknown. */
export function missingProgram(app: App, line: string): string | undefined {
  const commands = commandsOf(line);
  if (commands.slice(0, -1).some(({ text }) => !/^(?:cd|export|set)\s/.test(text))) return undefined;
  const { program } = invocationOf(commands.at(-1)?.text ?? "");
  const folder = folderOf(line);
  if (folder === undefined || !/^(?:\.\/+)?[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/.test(program)) return undefined;
  const name = program.replace(/^\.\/+/, "");
  if (!program.includes("/") || CREATED.test(name)) return undefined;
  const path = folder === "" ? name : `${folder}/${name}`;
  return app.has(path) ? undefined : path;
}

/** Matches wrappers that Heroku's buildpacks put into an app's bin folder. */
const OF_A_BUILDPACK = /(?:^|\/)bin\/(?:start-(?:nginx|pgbouncer|stunnel)(?:-\w+)?|proximo|qgsocksify)$/;

/** What to do about a file of a start command that is not in the archive. */
export const missingFileRemedy = (path: string): string =>
  OF_A_BUILDPACK.test(path)
    ? "It comes from a buildpack of Heroku, which is not used here: remove it from the command."
    : "Add the file, or correct the command.";
