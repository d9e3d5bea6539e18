import { setPriority } from "node:os";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { type Area, areas } from "./mutate/areas.ts";

/**
 * Changes the code in small ways and counts the changes that no test notices: `npm run mutate [-- area…]`. One worker at
 * low priority, because a full run takes hours.
 */
const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.filter((name) => !(name in areas));
if (unknown.length > 0) {
  console.error(`There is no area ${unknown.join(", ")}. The areas are ${Object.keys(areas).join(", ")}.`);
  process.exit(2);
}
setPriority(10);

type Mutants = Awaited<ReturnType<Stryker["runMutationTest"]>>;
const noticed = new Set<Mutants[number]["status"]>(["Killed", "Timeout"]);
/** Mutants that do not run, or that the code itself marks with a reason. */
const uncounted = new Set<Mutants[number]["status"]>(["CompileError", "RuntimeError", "Ignored"]);

async function mutate(area: Area): Promise<Mutants> {
  process.env.MUTATE_TESTS = area.tests.join(",");
  const stryker = new Stryker({
    testRunner: "vitest",
    vitest: { configFile: "scripts/mutate/vitest.config.ts", related: false },
    mutate: area.files,
    ignorePatterns: ["cdk.out", "dist", ".slipway", "examples"],
    coverageAnalysis: "perTest",
    concurrency: 1,
    timeoutMS: 20_000,
    reporters: ["progress-append-only"],
    tempDirName: "node_modules/.cache/mutate",
    // TypeScript 7 has no API to rewrite the file with, and tests do not read it.
    tsconfigFile: "none",
  });
  return stryker.runMutationTest();
}

for (const [name, area] of Object.entries(areas)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const mutants = (await mutate(area)).filter(({ status }) => !uncounted.has(status));
  const survivors = mutants.filter(({ status }) => !noticed.has(status));
  const score = (100 * (mutants.length - survivors.length)) / mutants.length;
  console.log(`${name}: ${score.toFixed(1)} % of ${mutants.length} changes are noticed`);
  for (const { fileName, location, mutatorName, replacement, status } of survivors) {
    const where = `${fileName.replace(`${process.cwd()}/`, "")}:${location.start.line}:${location.start.column}`;
    console.log(`  ${where} ${mutatorName} → ${(replacement ?? "").replaceAll(/\s+/g, " ").slice(0, 90)} (${status})`);
  }
}
