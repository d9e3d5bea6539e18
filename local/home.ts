import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const ownerOnly = 0o700;

/**
 * Makes the folder of all state, or takes one that exists. It holds keys, so only its owner may enter it, and only its
 * owner may read what lies directly in it, whatever an earlier version or a copy has left.
 */
export function openHome(home: string): void {
  mkdirSync(dirname(home), { recursive: true });
  try {
    // Not recursive: Node.js would try forever in a folder that takes no new entries, as those of /proc.
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
