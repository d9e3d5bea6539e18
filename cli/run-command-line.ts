import { SlipwayError } from "../sdk/errors.ts";
import type { CommandEntry, Context } from "./command.ts";
import { Failure, Interrupted, UsageError } from "./failure.ts";
import { printable, type Terminal } from "./terminal.ts";

function overview(commands: readonly CommandEntry[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    "Usage: slipway <command> [options]",
    "",
    ...rows,
    "",
    "Run slipway <command> --help for details. The service and the project come from options, then from SLIPWAY_URL,",
    "SLIPWAY_ACCESS_KEY and SLIPWAY_SECRET_KEY (or SLIPWAY_TOKEN), SLIPWAY_ORGANIZATION and SLIPWAY_PROJECT,",
    "then from the folder's link (slipway link), the local service's file (local.json in SLIPWAY_HOME or .slipway), and",
    "the saved login. Exit codes: 0 success, 1 failure, 2 wrong usage, 128 + n ended by signal n. --debug shows a stack trace.",
  ].join("\n");
}

/** The command whose name the words begin with, the longest name first: `env set` before `env`. */
function findCommand(
  words: readonly string[],
  commands: readonly CommandEntry[],
): { command: CommandEntry; rest: string[] } | undefined {
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
  const found = findCommand(words[0] === "help" ? words.slice(1) : words, context.commands);
  if (wantsHelp) {
    context.terminal.result(found ? (await found.command.load()).help(found.command) : overview(context.commands));
    return words.length === 0 ? 2 : 0;
  }
  if (!found) {
    const group = context.commands
      .map(({ name }) => name)
      .filter((name) => name.startsWith(`${words[0]} `))
      .map((name) => `slipway ${name}`);
    if (group.length > 0) throw new UsageError(`Name a subcommand: ${group.join(", ")}.`);
    throw new UsageError(`Unknown command ${JSON.stringify(words[0])}.`);
  }
  return (await found.command.load()).run(found.command, found.rest, context);
}

function tell(error: unknown, terminal: Terminal, debug: boolean): number {
  if (debug && error instanceof Error && !(error instanceof Interrupted)) terminal.note(printableStack(error));
  if (error instanceof Interrupted) return error.exitCode;
  if (error instanceof UsageError) {
    const help = error.message.startsWith("Usage:") ? "" : " See slipway --help.";
    terminal.note(`${printable(error.message)}${help}`, "red");
    return 2;
  }
  if (error instanceof SlipwayError) {
    const request = (error.status ?? 0) >= 500 && error.requestId ? ` (request ${error.requestId})` : "";
    terminal.note(`${printable(error.message)}${request}`, "red");
    return 1;
  }
  const isExpected = error instanceof Failure || (error instanceof Error && "syscall" in error);
  const message = printable(error instanceof Error ? error.message : String(error));
  const isFull = error instanceof Error && "code" in error && error.code === "ENOSPC";
  if (isFull) terminal.note(`The disk is full (${message}). Free some space and try again.`, "red");
  else
    terminal.note(isExpected ? message : `Unexpected error: ${message}. Use --debug to see where it happened.`, "red");
  return 1;
}

const printableStack = (error: Error) => (error.stack ?? error.message).split("\n").map(printable).join("\n");

/** Runs a command by the words after `slipway`, and tells of every failure on stderr; the result is the exit code. */
export async function runCommandLine(words: readonly string[], context: Context): Promise<number> {
  const debug = words.includes("--debug");
  try {
    return await run(
      words.filter((word) => word !== "--debug"),
      context,
    );
  } catch (error) {
    return tell(error, context.terminal, debug);
  }
}
