import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The files of an example application, by path. */
export function exampleFiles(name: string): Record<string, Buffer> {
  const folder = join(import.meta.dirname, "fixtures", name);
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("__pycache__"))
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path)]));
}

/** The reason why packages cannot be installed from npm on this machine; null if they can. As in builds, user settings are ignored. */
export function noNpmExamplesBecause(): string | null {
  const env = { ...process.env, HOME: tmpdir(), npm_config_fetch_retries: "0" };
  const { status } = spawnSync("npm", ["view", "express", "version"], { env, timeout: 20_000 });
  return status === 0 ? null : "npm's registry cannot be reached";
}
