import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import type * as z from "zod";
import { StartRefused } from "./start-refused.ts";

/** A file of the data folder exists but its content is invalid. */
export class DamagedFile extends StartRefused {}

/** Reads a JSON file; undefined if it does not exist. Throws DamagedFile with `advice` as the second sentence. */
export function readStateFile<S extends z.ZodType>(path: string, schema: S, advice: string): z.output<S> | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    // JSON.parse errors quote the text, which may contain a key, so they are not passed on.
  }
  const parsed = schema.safeParse(content);
  if (!parsed.success) throw new DamagedFile(`${path} is damaged. ${advice}`);
  return parsed.data;
}

/** Replaces a JSON file atomically, readable only by its owner: after a crash it has the old or the new content. */
export function writeStateFile(path: string, content: object): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, "w", 0o600);
  try {
    writeSync(file, `${JSON.stringify(content, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}
