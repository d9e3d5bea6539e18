import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import * as z from "zod";

/** The path of the cached fresh data folder for this version of PostgreSQL. */
export function templateIn(cacheDir: string): string {
  const file = findPackageJSON("@electric-sql/pglite", import.meta.url);
  if (file === undefined) throw new Error("PGlite is not installed");
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, "utf8")));
  return join(cacheDir, `postgres-${version}`);
}

/** Copies the template to `dir`; returns false if there is none. A copy is much faster than creating a data folder. */
export function copyTemplate(template: string, dir: string): boolean {
  if (!existsSync(template)) return false;
  cpSync(template, dir, { recursive: true });
  return true;
}

/** Caches a copy of a fresh data folder. Errors are ignored: the cache may be read-only or filled by another process. */
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
