import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { SavedLogins } from "../sdk/saved-logins.ts";
import { replaceFile } from "./replace-file.ts";

/** Replaces the file of logins in one step; it and its folder are readable by their owner only. */
export function saveLogins(file: string, logins: SavedLogins): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  replaceFile(file, `${JSON.stringify(logins, null, 2)}\n`);
}
