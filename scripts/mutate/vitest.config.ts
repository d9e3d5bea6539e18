import { defineConfig } from "vitest/config";

/** The tests of one area, in one context for each file: a mutant must not be seen by another one's tests. */
export default defineConfig({
  test: {
    include: (process.env.MUTATE_TESTS ?? "").split(","),
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
});
