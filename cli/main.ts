import * as nodeModule from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { cacheFolder } from "./cache-folder.ts";
import { commands } from "./commands.ts";
import { Interrupted } from "./failure.ts";
import { runCommandLine } from "./run-command-line.ts";
import { Terminal } from "./terminal.ts";

/** npm passes on the signal that the terminal has already sent, so one Ctrl-C arrives twice. */
const sameInterruptMilliseconds = 1000;

function interruptible(): AbortSignal {
  const controller = new AbortController();
  let since = 0;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    const exitCode = 128 + constants.signals[name];
    process.on(name, () => {
      // The first signal lets the command clean up; the second ends it immediately.
      if (!controller.signal.aborted) since = performance.now();
      else if (performance.now() - since > sameInterruptMilliseconds) process.exit(exitCode);
      controller.abort(new Interrupted(exitCode));
    });
  }
  return controller.signal;
}

// Compiling a command's modules takes longer than running most commands. Node.js 20 has no such cache.
nodeModule.enableCompileCache?.(join(cacheFolder(process.env), "compiled"));
const terminal = new Terminal(process.stdout, process.stderr, process.env);
// A reader that stops early (`slipway logs | head`) is not an error.
process.stdout.on("error", (error) => process.exit("code" in error && error.code === "EPIPE" ? 0 : 1));
const { INIT_CWD: startedIn, npm_lifecycle_event: script } = process.env;
process.exitCode = await runCommandLine(process.argv.slice(2), {
  terminal,
  environment: process.env,
  // `npm run` changes to the package's folder; paths are relative to the folder that the command was typed in.
  workingFolder: script === "slipway" && startedIn ? startedIn : process.cwd(),
  // Reading this property opens the stream.
  get stdin() {
    return process.stdin;
  },
  signal: interruptible(),
  commands,
});
