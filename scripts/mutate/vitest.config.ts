import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { endlessLoops } from "./endless-loops.ts";
import { liveConstants } from "./live-constants.ts";

const here = import.meta.dirname;
// As in the project's vitest.config.ts.
process.env.SLIPWAY_CONTAINERS = "none";
process.env.NODE_COMPILE_CACHE ??= join(here, "..", "..", "node_modules", ".cache", "node");

/** One test file. Its tests run one after the other, because a change must not affect another test. */
export default defineConfig({
  plugins: [
    liveConstants,
    endlessLoops,
    {
      name: "functions-in-process",
      enforce: "pre",
      // A worker thread would not see which change is switched on.
      resolveId: (id) => (id.endsWith("/function-thread.ts") ? join(here, "function-in-process.ts") : undefined),
    },
  ],
  test: {
    include: [process.env.MUTATE_TESTS ?? ""],
    ...(process.env.MUTATE_PLAN !== undefined && { runner: join(here, "runner.ts") }),
    expect: { poll: { timeout: 15_000 } },
    maxConcurrency: 1,
    maxWorkers: 1,
    // The runner has its own limit, based on the test's duration without a change.
    testTimeout: process.env.MUTATE_PLAN === undefined ? 120_000 : 900_000,
    hookTimeout: 180_000,
  },
});
