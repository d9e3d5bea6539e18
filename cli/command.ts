import type { Readable } from "node:stream";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { UsageError } from "./failure.ts";
import type { Terminal } from "./terminal.ts";

interface Option {
  type: "string" | "boolean";
  /** The placeholder for the value in the help: `--title <text>`. */
  value?: string;
  describe: string;
}

/** The context of a command. */
export interface Context {
  terminal: Terminal;
  environment: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths on the command line start from. */
  workingFolder: string;
  stdin: Readable & { isTTY?: boolean };
  /** Aborted with `Interrupted` by Ctrl-C. */
  signal: AbortSignal;
  /** Every command, for those that describe the command line itself. */
  commands: readonly CommandEntry[];
}

/** The options and operands of a command line; only those that the command declares can be read. */
export class Arguments<Name extends string> {
  readonly #values: Record<string, unknown>;
  readonly operands: readonly string[];

  constructor(values: Record<string, unknown>, operands: readonly string[]) {
    this.#values = values;
    this.operands = operands;
  }

  text(name: Name): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  flag(name: Name): boolean {
    return this.#values[name] === true;
  }
}

interface Definition<Name extends string> {
  /** More than the summary says; shown by --help only. */
  details?: string;
  /** The operands as the help shows them, and how many there may be. */
  operands?: { shown: string; min: number; max: number };
  options: Record<Name, Option>;
  run: (args: Arguments<Name>, context: Context) => Promise<number>;
}

/** The part of a command that is loaded when it is called. */
export interface Implementation {
  options: readonly { name: string; value?: string; describe: string }[];
  /** The operands as the help shows them. */
  operands: string;
  help: (entry: CommandEntry) => string;
  /** Runs with the words after the command's name; the result is the exit code. Throws UsageError. */
  run: (entry: CommandEntry, words: string[], context: Context) => Promise<number>;
}

/** The part of a command that the list of commands needs; the rest is loaded when the command is called. */
export interface CommandEntry {
  name: string;
  summary: string;
  /** A command line that shows what the command is for. */
  example: string;
  load: () => Promise<Implementation>;
}

/** The options of every command that talks to the service. */
export const serviceOptions = {
  url: { type: "string", value: "address", describe: "the service (SLIPWAY_URL)" },
  profile: { type: "string", value: "name", describe: "the saved login to use (SLIPWAY_PROFILE)" },
  organization: { type: "string", value: "id", describe: "the organization (SLIPWAY_ORGANIZATION)" },
  project: { type: "string", value: "id", describe: "the project (SLIPWAY_PROJECT)" },
  json: { type: "boolean", describe: "print JSON for machines" },
} as const satisfies Record<string, Option>;

const { project: _, ...withoutProject } = serviceOptions;
/** The options of commands about an organization, not one of its projects. */
export const organizationOptions = withoutProject;

/** Declares a command: its parser and its help follow from the declaration. */
export function command<Name extends string>(definition: Definition<Name>): Implementation {
  const { details, operands = { shown: "", min: 0, max: 0 }, run } = definition;
  const options: Record<string, Option> = definition.options;
  return {
    options: Object.entries(options).map(([name, option]) => ({ name, ...option })),
    operands: operands.shown,
    help: (entry) => helpOf(entry, details, operands.shown, options),
    run: ({ name }, words, context) => {
      const { values, positionals } = parse(name, words, options);
      if (positionals.length < operands.min || positionals.length > operands.max) {
        throw new UsageError(`Usage: ${["slipway", name, operands.shown].filter(Boolean).join(" ")}.`);
      }
      return run(new Arguments<Name>(values, positionals), context);
    },
  };
}

function parse(name: string, words: string[], options: Record<string, Option>) {
  const config: ParseArgsOptionsConfig = Object.fromEntries(
    Object.entries(options).map(([option, { type }]) => [option, { type }]),
  );
  try {
    return parseArgs({ args: words, options: config, allowPositionals: true, strict: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const unknown = /^Unknown option '([^']*)'/.exec(error.message)?.[1];
    if (unknown !== undefined) throw new UsageError(`Unknown option ${unknown} of slipway ${name}.`);
    throw new UsageError(`${error.message.replace(/\s+/g, " ").replace(/\.?$/, ".")}`);
  }
}

function helpOf(
  { name, summary, example }: CommandEntry,
  details: string | undefined,
  operands: string,
  options: Record<string, Option>,
): string {
  const rows = Object.entries(options).map(([option, { value, describe }]) => {
    const shown = value === undefined ? `--${option}` : `--${option} <${value}>`;
    return `  ${shown.padEnd(24)} ${describe}`;
  });
  const usage = ["slipway", name, operands, rows.length > 0 ? "[options]" : ""].filter(Boolean).join(" ");
  const text = details === undefined ? summary : `${summary}\n${details}`;
  return [`Usage: ${usage}`, "", text, "", ...rows, "", `Example: ${example}`].join("\n");
}
