import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { commands } from "../../../cli/commands.ts";
import { runCommandLine } from "../../../cli/run-command-line.ts";
import { Terminal } from "../../../cli/terminal.ts";
import { buildCli } from "../../../scripts/package/cli.ts";

/** The installed command line, and its cache: nothing is left in the user's own folders. */
const place = mkdtempSync(join(tmpdir(), "slipway-cli-"));
process.once("exit", () => rmSync(place, { recursive: true, force: true }));
const ownFolders = { SLIPWAY_CACHE: join(place, "cache") };
let built: Promise<string> | undefined;

/** The command line as users install it, built once: it starts three times as fast as from its sources. */
export function installed(): Promise<string> {
  built ??= (async () => {
    const folder = join(place, "installed");
    await buildCli(folder);
    return join(folder, "slipway.js");
  })();
  return built;
}

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
  /** Receives stdout so far and a function that sends a signal. */
  onResult?: (stdout: string, kill: (signal: NodeJS.Signals) => void) => void;
}

/** Runs the command line as a user would, with only the given environment. */
export async function slipway(words: string[], options: RunOptions = {}): Promise<Finished> {
  const main = await installed();
  const child = spawn(process.execPath, [main, ...words], {
    cwd: options.workingFolder ?? tmpdir(),
    env: {
      PATH: process.env.PATH,
      TMPDIR: tmpdir(),
      ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
      ...ownFolders,
      ...options.environment,
    },
  });
  child.stdin.end(options.stdin ?? "");
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    stdout += piece;
    options.onResult?.(stdout, (signal) => child.kill(signal));
  });
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    stderr += piece;
    options.onNote?.(stderr, (signal) => child.kill(signal));
  });
  return new Promise((done, fail) => {
    child.on("error", fail).on("close", (code) => done({ code, stdout, stderr }));
  });
}

/** Runs the command line in this process, with only the given environment: a process costs a tenth of a second of work. */
export async function commandLine(
  words: string[],
  {
    environment = {},
    workingFolder = tmpdir(),
    stdin = "",
  }: Pick<RunOptions, "environment" | "workingFolder" | "stdin"> = {},
): Promise<Finished> {
  const written = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof written) => ({ write: (text: string) => (written[name] += text) });
  const code = await runCommandLine(words, {
    terminal: new Terminal(stream("stdout"), stream("stderr"), environment),
    environment: { ...ownFolders, ...environment },
    workingFolder,
    stdin: Readable.from([stdin]),
    signal: new AbortController().signal,
    commands,
  });
  return { code, ...written };
}

/** A folder with these files (text by path; a path that ends in "/" is an empty folder, `{ link }` a link). */
export function folderWith(files: Record<string, string | { link: string }>) {
  const path = mkdtempSync(join(tmpdir(), "cli-"));
  for (const [name, content] of Object.entries(files)) {
    const entry = join(path, name);
    mkdirSync(name.endsWith("/") ? entry : dirname(entry), { recursive: true });
    if (name.endsWith("/")) continue;
    if (typeof content === "string") writeFileSync(entry, content);
    else symlinkSync(content.link, entry);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
