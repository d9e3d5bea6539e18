import { join } from "node:path";
import { defineConfig } from "vitest/config";

const here = import.meta.dirname;

/** The configuration for one test file that reads the synthesized template. */
export default defineConfig({
  test: {
    include: [process.env.MUTATE_TESTS ?? ""],
    setupFiles: [join(here, "template-setup.ts")],
    ...(process.env.MUTATE_PLAN !== undefined && { runner: join(here, "runner.ts") }),
    maxConcurrency: 1,
    maxWorkers: 1,
    testTimeout: 900_000,
    hookTimeout: 180_000,
  },
});
