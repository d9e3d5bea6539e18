import * as z from "zod";

/** A test without a change: its duration, and how many iterations of the instrumented code's loops it runs. */
const effort = z.object({ milliseconds: z.number(), rounds: z.number() });

/** The plan of a process that runs one test file. MUTATE_PLAN is the path of the JSON file that contains it. */
export const planSchema = z.object({
  /** The file to which the process appends its results, one line of JSON each. */
  results: z.string(),
  /** The changes to try with each test, by test id; absent in the first run, which only records the changes that each test reaches. */
  mutants: z.record(z.string(), z.array(z.string())).optional(),
  /** The duration and loop iterations of each test without a change. */
  usual: z.record(z.string(), effort).optional(),
});
export type Effort = z.infer<typeof effort>;
export type Plan = z.infer<typeof planSchema>;

export const resultSchema = z.union([
  z.object({ test: z.string(), name: z.string(), usual: effort, hits: z.record(z.string(), z.number()) }),
  /** Changes whose code runs outside of tests, such as in constants and when services start. */
  z.object({ static: z.array(z.string()) }),
  z.object({ test: z.string(), mutant: z.string(), started: z.literal(true) }),
  z.object({ test: z.string(), mutant: z.string(), killed: z.boolean() }),
  /** The test failed without a change. `failed` is "first", "second" (its runs before all changes) or the change that was tried before. */
  z.object({ test: z.string(), failed: z.string() }),
]);
export type Result = z.infer<typeof resultSchema>;
