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
 * Finds the executable file of `command` in this folder and PATH, or undefined. The search is synchronous because waiting
 * for a busy event loop would delay the start of an app for longer than the whole search takes.
 */
export function findExecutable(command: string, cwd: string, path: string): string | undefined {
  const candidates = command.includes("/")
    ? [resolve(cwd, command)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder || "."), command));
  return candidates.find(isExecutable);
}
