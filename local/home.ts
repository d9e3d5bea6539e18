import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const ownerOnly = 0o700;

/**
 * Creates the data folder if needed. It contains keys, so only its owner gets access to it and to the files directly in
 * it, also to those that an earlier version or a copy left with other permissions.
 */
export function openHome(home: string): void {
  mkdirSync(dirname(home), { recursive: true });
  try {
    // Not recursive, because Node.js would retry forever in a folder without new entries, such as /proc.
    mkdirSync(home, { mode: ownerOnly });
  } catch (error) {
    if (!existsSync(home) || !statSync(home).isDirectory()) throw error;
  }
  chmodSync(home, ownerOnly);
  for (const name of readdirSync(home)) {
    const path = join(home, name);
    const found = lstatSync(path);
    if ((found.isFile() || found.isDirectory()) && (found.mode & 0o077) !== 0) chmodSync(path, found.mode & ownerOnly);
  }
}
