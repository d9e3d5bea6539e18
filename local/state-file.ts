import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import type * as z from "zod";
import { StartRefused } from "./start-refused.ts";

/** A file of the home that exists and does not hold what it should. */
export class DamagedFile extends StartRefused {}

/** The content of a JSON file; undefined when there is none. Throws DamagedFile with `advice` as its second sentence. */
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
    // JSON.parse errors quote the text, which may hold a key.
  }
  const parsed = schema.safeParse(content);
  if (!parsed.success) throw new DamagedFile(`${path} is damaged. ${advice}`);
  return parsed.data;
}

/** Replaces a JSON file as a whole, readable by its owner only: a crash leaves the old content or the new one. */
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
