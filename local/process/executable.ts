import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** The file that `command` names in that folder and PATH, or undefined when there is none to execute. */
export async function findExecutable(command: string, cwd: string, path: string): Promise<string | undefined> {
  const candidates = command.includes("/")
    ? [resolve(cwd, command)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder || "."), command));
  for (const candidate of candidates) if (await isExecutable(candidate)) return candidate;
  return undefined;
}
