import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { chooseSeed } from "./test/harness/property-seed.ts";
import { WaitingFirst } from "./test/harness/waiting-first.ts";

/** A larger young generation makes V8's garbage collections rarer, which saves an eighth of the processor time. */
const youngGeneration = ["--min-semi-space-size=16", "--max-semi-space-size=64"];
/** PostgreSQL is WebAssembly. The tests run it for so short a time that V8's second compiler costs more than its code saves. */
const lateCompiler = "--wasm-tiering-budget=100000000";
/** The files of a worker share its process: loading the service and the AWS SDK for each one would double what most cost. */
const shared = {
  isolate: false,
  setupFiles: ["test/harness/shared-process.ts"],
  execArgv: [...youngGeneration, lateCompiler],
};

const project = (name: string, tiers: string[], options: Record<string, unknown> = {}) => ({
  test: {
    name,
    include: tiers.map((tier) => `test/${tier}/**/*.test.ts`),
    // The concurrent tests wait for pauses more than they compute.
    maxConcurrency: 10,
    // They end a test that hangs. A busy machine takes several times as long as an idle one.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // The default of one second is too short for an event of another process on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    ...options,
  },
});

chooseSeed();
// Tests whose service is a program of its own do not depend on whether this machine has a Docker engine either.
process.env.SLIPWAY_CONTAINERS = "none";
// Compiling the AWS SDK is half of what a process of a test costs; as in `npm start`, it is done once.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules", ".cache", "node");
// esbuild and tsc, which are written in Go, end soon: to collect their memory seldom saves a fifth of their processor time.
process.env.GOGC ??= "400";

/** These save a sixth of a synthesis: less garbage collection, and one compiler for the WebAssembly of CDK's validation. */
const synthesis = ["--single-threaded-gc", "--min-semi-space-size=32", "--max-semi-space-size=64", "--liftoff-only"];

export default defineConfig({
  test: {
    // One more than CI has processors: many tests wait.
    maxWorkers: 3,
    sequence: { sequencer: WaitingFirst },
    projects: [
      project("unit", ["unit"], shared),
      // One project, because a worker starts again for another one.
      project("services", ["local", "api", "pipeline", "console"], shared),
      project("synth", ["synth"], { ...shared, execArgv: synthesis }),
      project("e2e", ["e2e"], { testTimeout: 180_000 }),
      project("images", ["images"], {
        globalSetup: ["test/images/setup.ts"],
        testTimeout: 300_000,
        hookTimeout: 600_000,
      }),
    ],
  },
});
