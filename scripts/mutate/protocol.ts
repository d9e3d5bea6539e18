import * as z from "zod";

/** What a test takes without a change: its time, and how many rounds of the changed code's loops it runs. */
const effort = z.object({ milliseconds: z.number(), rounds: z.number() });

/** The plan for the process that runs one file of tests, in the file that MUTATE_PLAN names. */
export const planSchema = z.object({
  /** Where it appends its results, one JSON line each. */
  results: z.string(),
  /** The changes to try with each test; absent for the first run, which only records what each test reaches. */
  mutants: z.record(z.string(), z.array(z.string())).optional(),
  /** What each test took without a change. */
  usual: z.record(z.string(), effort).optional(),
});
export type Effort = z.infer<typeof effort>;
export type Plan = z.infer<typeof planSchema>;

export const resultSchema = z.union([
  z.object({ test: z.string(), name: z.string(), usual: effort, hits: z.record(z.string(), z.number()) }),
  /** Reached before or between the tests, as constants and the start of the services are. */
  z.object({ static: z.array(z.string()) }),
  z.object({ test: z.string(), mutant: z.string(), started: z.literal(true) }),
  z.object({ test: z.string(), mutant: z.string(), killed: z.boolean() }),
  /** The test fails without a change: at its first or second run, or after the run with this change. */
  z.object({ test: z.string(), failed: z.string() }),
]);
export type Result = z.infer<typeof resultSchema>;
