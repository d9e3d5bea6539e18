import { existsSync } from "node:fs";
import { join } from "node:path";
import { DockerRules, GitRules } from "./ignore-rules.ts";
import { isNeverSent } from "./select-files.ts";

/** Explains why `deploy` does not send a file of a folder; undefined if it is sent or does not exist. */
export function leftOutBecause(folder: string, path: string): string | undefined {
  const names = path.split("/");
  if (names.includes("..") || !existsSync(join(folder, path))) return undefined;
  const git = new GitRules(folder);
  const docker = new DockerRules(folder);
  for (const [index, name] of names.entries()) {
    git.enter(join(folder, ...names.slice(0, index)));
    const isFolder = index < names.length - 1;
    const place = names.slice(0, index + 1).join("/");
    if (isNeverSent(name)) return `${path} is in the folder, but ${name} is never sent.`;
    const rule = git.ruleFor(join(folder, place), isFolder) ?? (isFolder ? undefined : docker.ruleFor(place));
    if (rule !== undefined) return `${path} is in the folder, but is not sent: it is left out by ${rule}.`;
  }
  return undefined;
}

/** `leftOutBecause` for a file that a failed build reports as missing from the archive. */
export function leftOutOf(folder: string, error: string): string | undefined {
  const missing = /(\S+), which is not in the archive/.exec(error)?.[1];
  return missing === undefined ? undefined : leftOutBecause(folder, missing);
}
