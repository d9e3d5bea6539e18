import { cpSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

export const root = join(import.meta.dirname, "..", "..");

/** Copies the project to a new folder, without build output and stored data; the copy uses the packages of this project. */
export function copyOfProject(): string {
  const copy = mkdtempSync(join(tmpdir(), "mutate-"));
  const left = new Set(["node_modules", ".git", "cdk.out", "dist", ".slipway"]);
  cpSync(root, copy, { recursive: true, filter: (path) => !left.has(basename(path)) });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}
