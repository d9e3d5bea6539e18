import { realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Replaces a file in one step, readable by its owner only: on a full disk the old one stays, and nothing else is left behind. */
export function replaceFile(file: string, text: string): void {
  const target = targetOf(file);
  const next = `${target}.${process.pid}`;
  try {
    writeFileSync(next, text, { mode: 0o600 });
    renameSync(next, target);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
}

/** A link to a file stays one. */
function targetOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
