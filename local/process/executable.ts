import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * The file that `command` names in that folder and PATH, or undefined when there is none to execute. Looked for at once:
 * each turn of a busy event loop would hold up the start of an app for longer than all the looking takes.
 */
export function findExecutable(command: string, cwd: string, path: string): string | undefined {
  const candidates = command.includes("/")
    ? [resolve(cwd, command)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder || "."), command));
  return candidates.find(isExecutable);
}
