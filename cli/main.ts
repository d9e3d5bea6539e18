import { constants } from "node:os";
import { SlipwayError } from "../sdk/errors.ts";
import type { Command, Context } from "./command.ts";
import { commands } from "./commands.ts";
import { Failure, Interrupted, UsageError } from "./failure.ts";
import { printable, Terminal } from "./terminal.ts";

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary.split("\n")[0]}`);
  return [
    "Usage: slipway <command> [options]",
    "",
    ...rows,
    "",
    "Run slipway <command> --help for details. The service and the project come from options, then from SLIPWAY_URL,",
    "SLIPWAY_ACCESS_KEY and SLIPWAY_SECRET_KEY (or SLIPWAY_TOKEN), SLIPWAY_ORGANIZATION and SLIPWAY_PROJECT,",
    "then from the local service's file, local.json in SLIPWAY_HOME (.slipway).",
  ].join("\n");
}

/** The command whose name the words begin with, the longest name first: `env set` before `env`. */
function findCommand(words: readonly string[]): { command: Command; rest: string[] } | undefined {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(" ");
    const command = commands.find((candidate) => candidate.name === name);
    if (command) return { command, rest: words.slice(length) };
  }
  return undefined;
}

async function run(words: string[], context: Context): Promise<number> {
  const asked = words.slice(0, words.includes("--") ? words.indexOf("--") : undefined);
  const wantsHelp = asked.includes("--help") || asked.includes("-h") || words[0] === "help" || words.length === 0;
  const found = findCommand(words[0] === "help" ? words.slice(1) : words);
  if (wantsHelp) {
    context.terminal.result(found?.command.help ?? overview());
    return words.length === 0 ? 2 : 0;
  }
  if (!found) {
    const group = commands.filter(({ name }) => name.startsWith(`${words[0]} `)).map(({ name }) => `slipway ${name}`);
    if (group.length > 0) throw new UsageError(`Name a subcommand: ${group.join(", ")}.`);
    throw new UsageError(`Unknown command ${JSON.stringify(words[0])}.`);
  }
  return found.command.run(found.rest, context);
}

function tell(error: unknown, terminal: Terminal): number {
  if (error instanceof Interrupted) return error.exitCode;
  if (error instanceof UsageError) {
    const help = error.message.startsWith("Usage:") ? "" : " See slipway --help.";
    terminal.note(`${printable(error.message)}${help}`, "red");
    return 2;
  }
  if (error instanceof SlipwayError) {
    const hint = error.status === 401 ? " Check SLIPWAY_ACCESS_KEY and SLIPWAY_SECRET_KEY, or SLIPWAY_TOKEN." : "";
    const request = (error.status ?? 0) >= 500 && error.requestId ? ` (request ${error.requestId})` : "";
    terminal.note(`${printable(error.message)}${hint}${request}`, "red");
    return 1;
  }
  const isExpected = error instanceof Failure || (error instanceof Error && "syscall" in error);
  if (error instanceof Error && isExpected) terminal.note(printable(error.message), "red");
  else terminal.note(error instanceof Error ? (error.stack ?? error.message) : String(error), "red");
  return 1;
}

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

const terminal = new Terminal(process.stdout, process.stderr, process.env);
// A reader that stops early (`slipway logs | head`) is not an error.
process.stdout.on("error", (error) => process.exit("code" in error && error.code === "EPIPE" ? 0 : 1));
const { INIT_CWD: startedIn, npm_lifecycle_event: script } = process.env;
try {
  process.exitCode = await run(process.argv.slice(2), {
    terminal,
    environment: process.env,
    // `npm run` changes to the package's folder; paths are relative to the folder that the command was typed in.
    workingFolder: script === "slipway" && startedIn ? startedIn : process.cwd(),
    signal: interruptible(),
  });
} catch (error) {
  process.exitCode = tell(error, terminal);
}
