import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The files of an example application, by path. */
export function exampleFiles(name: string): Record<string, Buffer> {
  const folder = join(import.meta.dirname, "fixtures", name);
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("__pycache__"))
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path)]));
}
