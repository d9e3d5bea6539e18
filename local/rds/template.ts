import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import * as z from "zod";

/** Where this version of PostgreSQL keeps a fresh data folder for later homes, below `cacheDir`. */
export function templateIn(cacheDir: string): string {
  const file = findPackageJSON("@electric-sql/pglite", import.meta.url);
  if (file === undefined) throw new Error("PGlite is not installed");
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, "utf8")));
  return join(cacheDir, `postgres-${version}`);
}

/** Copies the template to `dir`; false when there is none. Making a data folder takes seconds, copying one does not. */
export function copyTemplate(template: string, dir: string): boolean {
  if (!existsSync(template)) return false;
  cpSync(template, dir, { recursive: true });
  return true;
}

/** Keeps a copy of a fresh data folder. A cache that cannot be written, or that another process fills, is left alone. */
export function keepTemplate(template: string, dir: string): void {
  const unfinished = `${template}.${process.pid}`;
  try {
    mkdirSync(dirname(template), { recursive: true });
    cpSync(dir, unfinished, { recursive: true });
    renameSync(unfinished, template);
  } catch {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
