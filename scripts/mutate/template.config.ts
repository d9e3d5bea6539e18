import { defineConfig } from "vitest/config";

/** The tests that read the synthesized template; those of the bundle and of the scripts do not. */
export default defineConfig({
  test: {
    include: ["test/synth/*.test.ts"],
    exclude: ["test/synth/{bundle,fresh-clone,scripts,sdk-calls,validation}.test.ts"],
    setupFiles: ["scripts/mutate/template-setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
