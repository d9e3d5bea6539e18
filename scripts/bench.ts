import { spawnSync } from "node:child_process";
import { benchAnalysis } from "./bench/analysis.ts";
import { benchAppOutput } from "./bench/app-output.ts";
import { benchCloud } from "./bench/cloud.ts";
import { benchColdStart } from "./bench/cold-start.ts";
import { benchCommandLine } from "./bench/command-line.ts";
import { benchConsole } from "./bench/console.ts";
import { benchContainers } from "./bench/containers.ts";
import { benchDeploy } from "./bench/deploy.ts";
import { benchLists } from "./bench/lists.ts";
import { benchMasking } from "./bench/masking.ts";
import { benchMcp } from "./bench/mcp.ts";
import type { Measured } from "./bench/measure.ts";
import { benchService } from "./bench/service.ts";
import { benchStorage } from "./bench/storage.ts";
import { benchTables } from "./bench/tables.ts";
import { benchZip } from "./bench/zip.ts";

const benches: Record<string, () => Promise<Measured[]>> = {
  deploy: benchDeploy,
  containers: benchContainers,
  cloud: benchCloud,
  coldstart: benchColdStart,
  service: benchService,
  lists: benchLists,
  zip: benchZip,
  analysis: benchAnalysis,
  masking: benchMasking,
  output: benchAppOutput,
  tables: benchTables,
  storage: benchStorage,
  mcp: benchMcp,
  cli: benchCommandLine,
  console: benchConsole,
};

/** Prints the ratios of one benchmark; the exit code is 1 if one exceeds its bound. */
async function print(bench: () => Promise<Measured[]>): Promise<void> {
  for (const { name, ratio, bound, detail } of await bench()) {
    const verdict = bound === null ? " " : ratio <= bound ? "✓" : "✗";
    const limit = bound === null ? "" : ` (at most ${Number(bound.toFixed(2))})`;
    console.log(`${verdict} ${name}: ${ratio.toFixed(2)}${limit} — ${detail}`);
    if (bound !== null && ratio > bound) process.exitCode = 1;
  }
}

/** Runs each benchmark in its own process: a service that runs in a process sets its environment and leaves garbage. */
function printEach(names: readonly string[]): void {
  for (const name of names) {
    const argv = [...process.execArgv, import.meta.filename, name];
    if (spawnSync(process.execPath, argv, { stdio: "inherit" }).status !== 0) process.exitCode = 1;
  }
}

/** Prints ratios measured side by side in one run: `npm run bench [-- name…]`. */
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(benches, name));
const single = asked.length === 1 && benches[asked[0] ?? ""];
if (unknown.length > 0) {
  console.error(`Unknown benchmark: ${unknown.join(", ")}. Choose from ${Object.keys(benches).join(", ")}.`);
  process.exitCode = 2;
} else if (single) await print(single);
else printEach(asked.length > 0 ? asked : Object.keys(benches));
