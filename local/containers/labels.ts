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

/** Which data folder something in an engine belongs to. */
export interface HomeLabels {
  /** The folder's name, which it keeps. */
  home: string;
  /** Names the folder's place. */
  path: string;
  /** The machine and the path of the folder, so that others see when it is gone. */
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

/** Undefined for a data folder that never used an engine. */
export function readHomeInEngine(home: string): HomeInEngine | undefined {
  return readStateFile(fileOf(home), fileSchema, advice);
}

export function writeHomeInEngine(home: string, { name, home: path, host }: HomeInEngine): void {
  writeStateFile(fileOf(home), { name, home: path, host });
}

/** True if the folder from which this one got its name is still there with the same name: then this one is a copy. */
function isCopy(found: HomeInEngine, path: string): boolean {
  if (found.home === path) return false;
  try {
    return readHomeInEngine(found.home)?.name === found.name;
  } catch {
    return false;
  }
}

/**
 * What a data folder is in an engine that others use too. The name is kept in the folder, so that it is the same after a
 * restart, a move and a change of the hostname; a copy of the folder gets another one. `isNew`: it was given now.
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

/** What a data folder's things in an engine carry. */
export function homeLabels(home: string): HomeLabels {
  return { home: homeInEngine(home).name, path: pathName(home), folder: `${hostname()}:${realpathSync(home)}` };
}

/** True if these labels are those of a data folder of this machine that was deleted, or replaced by another one. */
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
