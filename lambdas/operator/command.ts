import * as z from "zod";
import type { TableReader, TableWriter } from "../data/table.ts";
import { invalid } from "../kit/problem.ts";

export interface OperatorTools {
  table: TableReader & TableWriter;
  now: Date;
}

export type Command = (input: unknown, tools: OperatorTools) => Promise<object>;

/** A command of the operator (CONTRACT §8): its input's schema and what it does. */
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

/** A name as the console takes it. */
export const name = z
  .string()
  .transform((text) => text.trim())
  .pipe(z.string().min(1).max(128));
