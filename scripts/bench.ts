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

/** Prints ratios measured side by side in one run: `npm run bench [-- name…]`. */
const asked = process.argv.slice(2);
for (const [name, bench] of Object.entries(benches)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  for (const { name: what, ratio, bound, detail } of await bench()) {
    const verdict = bound === null ? " " : ratio <= bound ? "✓" : "✗";
    const limit = bound === null ? "" : ` (at most ${Number(bound.toFixed(2))})`;
    console.log(`${verdict} ${what}: ${ratio.toFixed(2)}${limit} — ${detail}`);
    if (bound !== null && ratio > bound) process.exitCode = 1;
  }
}
