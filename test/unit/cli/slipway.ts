import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const main = resolve(import.meta.dirname, "../../../cli/main.ts");

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  environment?: Record<string, string>;
  workingFolder?: string;
  stdin?: string;
  /** Receives stderr so far and a function that sends a signal. */
  onNote?: (stderr: string, kill: (signal: NodeJS.Signals) => void) => void;
}

/** Runs the command line as a user would, with only the given environment. */
export function slipway(words: string[], options: RunOptions = {}): Promise<Finished> {
  const child = spawn(process.execPath, [main, ...words], {
    cwd: options.workingFolder ?? tmpdir(),
    env: { PATH: process.env.PATH, TMPDIR: tmpdir(), ...options.environment },
  });
  child.stdin.end(options.stdin ?? "");
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    stdout += piece;
  });
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    stderr += piece;
    options.onNote?.(stderr, (signal) => child.kill(signal));
  });
  return new Promise((done, fail) => {
    child.on("error", fail).on("close", (code) => done({ code, stdout, stderr }));
  });
}

/** A folder with these files (text by path; a path that ends in "/" is an empty folder, `{ link }` a link). */
export function folderWith(files: Record<string, string | { link: string }>) {
  const path = mkdtempSync(join(tmpdir(), "cli-"));
  for (const [name, content] of Object.entries(files)) {
    const place = join(path, name);
    mkdirSync(name.endsWith("/") ? place : dirname(place), { recursive: true });
    if (name.endsWith("/")) continue;
    if (typeof content === "string") writeFileSync(place, content);
    else symlinkSync(content.link, place);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
