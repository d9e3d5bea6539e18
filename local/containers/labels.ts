import { createHash, randomBytes } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { readStateFile, writeStateFile } from "../state-file.ts";

/** The labels of everything that Slipway creates in an engine. */
export const label = {
  home: "slipway.home",
  path: "slipway.path",
  folder: "slipway.folder",
  task: "slipway.task",
  project: "slipway.project",
} as const;

/** The labels that identify a data folder. */
export interface HomeLabels {
  /** The folder's random name; it stays when the folder is moved. */
  home: string;
  /** Hash of the host name and the folder's path. */
  path: string;
  /** Host name and path, so that other services on this machine notice when the folder is deleted. */
  folder: string;
}

export const labelsOf = ({ home, path, folder }: HomeLabels): Record<string, string> => ({
  [label.home]: home,
  [label.path]: path,
  [label.folder]: folder,
});

const fileSchema = z.object({
  /** The value of `label.home`. */
  name: z.string(),
  /** Where the data folder was when it got the name. */
  home: z.string(),
  /** The engine that may have containers of this data folder. */
  host: z.string().optional(),
});
export type HomeInEngine = z.infer<typeof fileSchema>;

const fileOf = (home: string) => join(home, "engine.json");
const advice = "Delete it, and remove the containers with a label slipway.home.";

/** Reads engine.json; undefined if the data folder never used an engine. */
export function readHomeInEngine(home: string): HomeInEngine | undefined {
  return readStateFile(fileOf(home), fileSchema, advice);
}

export function writeHomeInEngine(home: string, { name, home: path, host }: HomeInEngine): void {
  writeStateFile(fileOf(home), { name, home: path, host });
}

/** True if the folder that got this name first still exists with the name: then this one is a copy. */
function isCopy(found: HomeInEngine, path: string): boolean {
  if (found.home === path) return false;
  try {
    return readHomeInEngine(found.home)?.name === found.name;
  } catch {
    return false;
  }
}

/**
 * A data folder's identity in a shared engine. The name is stored in the folder, so that it survives a restart, a move and a
 * change of the host name; a copy of the folder gets a new one. `isNew`: the name was created by this call.
 */
export function homeInEngine(home: string): HomeInEngine & { isNew: boolean } {
  const path = realpathSync(home);
  const found = readHomeInEngine(home);
  const isNew = found === undefined || isCopy(found, path);
  const kept = isNew ? { name: randomBytes(6).toString("hex"), home: path } : { ...found, home: path };
  if (isNew || found.home !== path) writeHomeInEngine(home, kept);
  return { ...kept, isNew };
}

/** The value of `label.path`. Earlier versions used it as the name. */
export function pathName(home: string): string {
  return createHash("sha256")
    .update(`${hostname()}\0${realpathSync(home)}`)
    .digest("hex")
    .slice(0, 12);
}

/** The labels of everything that a data folder creates in an engine. */
export function homeLabels(home: string): HomeLabels {
  return { home: homeInEngine(home).name, path: pathName(home), folder: `${hostname()}:${realpathSync(home)}` };
}

/** True if the labels are of a data folder on this machine that was deleted or replaced by another one. */
export function isAbandoned(labels: Readonly<Record<string, string>>): boolean {
  const own = `${hostname()}:`;
  const folder = labels[label.folder];
  if (!folder?.startsWith(own)) return false;
  const home = folder.slice(own.length);
  try {
    if (statSync(fileOf(home), { throwIfNoEntry: false }) === undefined) return true;
    return readHomeInEngine(home)?.name !== labels[label.home];
  } catch {
    // A folder of another user, or one that cannot be read now.
    return false;
  }
}
