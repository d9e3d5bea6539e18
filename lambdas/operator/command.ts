import * as z from "zod";
import { isStorableText, lengthOf } from "../../api/common.ts";
import { limits } from "../../api/limits.ts";
import type { operatorUses } from "../../statemachines/steps.ts";
import { newEvent } from "../http/events.ts";
import { Event, type EventRow } from "../http/model/event.ts";
import { invalid } from "../http/problem.ts";
import type { ConsoleAddress, CustomDomains, Tools } from "../http/tools.ts";
import type { Write } from "../table/entity.ts";
import type { TableReader } from "../table/reader.ts";
import type { TableScanner } from "../table/scanner.ts";
import type { Outcome, TableWriter, Writes } from "../table/writer.ts";

export interface OperatorTools {
  table: TableReader;
  /** Writes, with the event of the change in the same transaction: whose it is, and the ids of what changes. */
  commit<const W extends Writes>(change: Pick<EventRow, "ownerId" | "ids">, writes: W): Promise<Outcome<W>>;
  /** For `migrate` alone: all rows, and writes that change nothing for users and so record no event. */
  migration: TableScanner & TableWriter;
  console: ConsoleAddress;
  customDomains: CustomDomains;
  now: Date;
}

/** The tools of one command; its name is the action of its events. */
export function operatorTools(
  action: string,
  { table, scanner, ...others }: Tools<(typeof operatorUses)[number]>,
  now: Date,
): OperatorTools {
  async function commit<const W extends Writes>(change: Pick<EventRow, "ownerId" | "ids">, writes: W) {
    const event = newEvent({ ...change, action, actor: { kind: "operator" }, outcome: "done" }, now);
    return table.write<W & { event: Write }>({ ...writes, event: Event.put(event, event) });
  }
  const migration = { page: scanner.page, write: table.write };
  return { table, commit, migration, ...others, now };
}

export type Command = (input: unknown, tools: OperatorTools) => Promise<object>;

/** A command of the operator (docs/api.md, Operator commands): its input's schema and what it does. */
export function command<S extends z.ZodType>(
  schema: S,
  run: (input: z.output<S>, tools: OperatorTools) => Promise<object>,
): Command {
  return async (input, tools) => {
    const parsed = schema.safeParse(input);
    if (parsed.success) return run(parsed.data, tools);
    throw invalid(parsed.error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message })));
  };
}

const text = (lengthMax: number) =>
  z
    .string()
    .transform((given) => given.trim())
    .refine((given) => lengthOf(given) <= lengthMax, { error: `must have at most ${lengthMax} characters` })
    .refine(isStorableText, { error: "must be well-formed Unicode without NUL" });

/** The name of a resource. */
export const name = text(128).refine((given) => given !== "", { error: "must not be empty" });

/** What a key or token is for; may be left out. */
export const description = text(limits.credentialDescriptionLengthMax).default("");
