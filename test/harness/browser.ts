import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome"];

/** Chromium's program; without one, the reason is printed and the tests that need it are skipped. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file));
  if (!found) process.stderr.write("Skipped: no Chromium is installed (Debian: apt-get install chromium).\n");
  return found;
}
