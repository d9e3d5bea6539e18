import { lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { folderRefused } from "./folder-refused.ts";
import { DockerRules, GitRules } from "./ignore-rules.ts";

interface Placed {
  /** Relative to the folder, "/" between the parts. */
  path: string;
  changedAt: Date;
}

/** The entries of the archive; a folder is listed only if it is empty. */
export type Selected = Placed &
  ({ kind: "file"; size: number; executable: boolean } | { kind: "link"; target: string } | { kind: "empty-folder" });

export interface Selection {
  folder: string;
  /** Ordered by path. */
  entries: Selected[];
  /** The .env files that were left out, by path. */
  environmentFiles: string[];
}

const neverSent = new Set([".git", "node_modules", ".venv", "__pycache__", ".slipway", ".DS_Store"]);
const isEnvironmentFile = (name: string) => name.startsWith(".env");

/** True for names of files and folders that are never sent, regardless of ignore rules. */
export const isNeverSent = (name: string): boolean => neverSent.has(name) || isEnvironmentFile(name);

/** Lists the files of a folder that `deploy` sends: all except those that .gitignore or .dockerignore exclude or that are never sent. */
export function selectFiles(folder: string): Selection {
  const top = openFolder(folder);
  const git = new GitRules(top);
  const docker = new DockerRules(top);
  const selection: Selection = { folder: top, entries: [], environmentFiles: [] };

  function walk(place: string): void {
    const real = join(top, place);
    git.enter(real);
    const children = readdirSync(real, { withFileTypes: true });
    if (children.length === 0 && place !== "" && !docker.leavesOut(place)) {
      selection.entries.push({ kind: "empty-folder", path: place, changedAt: lstatSync(real).mtime });
    }
    for (const child of children) {
      const path = place === "" ? child.name : `${place}/${child.name}`;
      const isFolder = child.isDirectory();
      if (neverSent.has(child.name)) continue;
      if (isEnvironmentFile(child.name)) {
        if (!isFolder) selection.environmentFiles.push(path);
        continue;
      }
      if (git.leavesOut(join(real, child.name), isFolder)) continue;
      const excluded = docker.leavesOut(path);
      if (isFolder && !(excluded && docker.isFinal)) walk(path);
      if (isFolder || excluded) continue;
      const entry = readEntry(top, path);
      if (entry !== null) selection.entries.push(entry);
    }
  }

  walk("");
  selection.entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  selection.environmentFiles.sort();
  return selection;
}

function openFolder(folder: string): string {
  const stats = lstatOf(folder);
  if (stats === null) throw folderRefused(`There is no folder ${folder}. Check the path.`);
  const top = realpathSync(folder);
  if (!lstatSync(top).isDirectory()) throw folderRefused(`${folder} is a file. Name the folder that contains the app.`);
  return top;
}

function lstatOf(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

/** Sockets, pipes and devices are not part of an app: null. */
function readEntry(top: string, path: string): Selected | null {
  const real = join(top, path);
  const stats = lstatSync(real);
  const changedAt = stats.mtime;
  if (stats.isSymbolicLink()) return { kind: "link", path, changedAt, target: readTarget(top, path) };
  if (!stats.isFile()) return null;
  if (/[\p{Cc}\\]/u.test(path)) {
    throw folderRefused(`${JSON.stringify(path)} has a name that an archive cannot contain. Rename it.`);
  }
  return { kind: "file", path, changedAt, size: stats.size, executable: (stats.mode & 0o111) !== 0 };
}

function readTarget(top: string, path: string): string {
  const real = join(top, path);
  const target = readlinkSync(real);
  const advice = "Make it a relative link within the folder, or list it in .gitignore.";
  if (isAbsolute(target)) throw folderRefused(`${path} is a link to an absolute path. ${advice}`);
  if (!isBelow(top, resolve(real, "..", target)) || !isBelow(top, realTargetOf(real) ?? top)) {
    throw folderRefused(`${path} is a link that leads out of the folder. ${advice}`);
  }
  return target.replaceAll(sep, "/");
}

function isBelow(top: string, path: string): boolean {
  const way = relative(top, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The final target of a link; null if it does not exist. */
function realTargetOf(link: string): string | null {
  try {
    return realpathSync(link);
  } catch {
    return null;
  }
}
