import { setPriority } from "node:os";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { type Area, areas } from "./mutate/areas.ts";
import { mutateMachine, mutateTemplate, type Outcome } from "./mutate/definitions.ts";

/**
 * Changes the code in small ways and counts the changes that no test notices:
 * `npm run mutate [-- area…] [--files pattern] [--fast] [--every n]`
 * (docs/testing.md). One worker at low priority, because a full run takes hours.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    fast: { type: "boolean", default: false },
    every: { type: "string", default: "1" },
    files: { type: "string" },
  },
});

/** Of the machine's and the template's changes only each n-th is tried. */
const every = Number(values.every);

type Mutants = Awaited<ReturnType<Stryker["runMutationTest"]>>;
const noticed = new Set<Mutants[number]["status"]>(["Killed", "Timeout"]);
/** Changes that do not run, or that the code itself marks with a reason. */
const uncounted = new Set<Mutants[number]["status"]>(["CompileError", "RuntimeError", "Ignored"]);

async function mutateCode(area: Area): Promise<Outcome> {
  process.env.MUTATE_TESTS = area.tests.join(",");
  const stryker = new Stryker({
    testRunner: "vitest",
    vitest: { configFile: "scripts/mutate/vitest.config.ts", related: false },
    mutate: values.files === undefined ? area.files : [values.files],
    ignorePatterns: ["cdk.out", "dist", ".slipway", "examples"],
    coverageAnalysis: "perTest",
    concurrency: 1,
    timeoutMS: 5_000,
    reporters: ["progress-append-only"],
    tempDirName: "node_modules/.cache/mutate",
    // TypeScript 7 has no API to rewrite the file with, and tests do not read it.
    tsconfigFile: "none",
  });
  const mutants = (await stryker.runMutationTest()).filter(({ status }) => !uncounted.has(status));
  const survivors = mutants
    .filter(({ status }) => !noticed.has(status))
    .map(({ fileName, location: { start }, mutatorName, replacement, status }) => {
      const file = fileName.replace(`${process.cwd()}/`, "");
      const change = (replacement ?? "").replaceAll(/\s+/g, " ").slice(0, 90);
      return `${file}:${start.line}:${start.column} ${mutatorName} → ${change} (${status})`;
    });
  return { count: mutants.length, survivors };
}

const runs: Record<string, () => Promise<Outcome> | Outcome> = {
  ...Object.fromEntries(Object.entries(areas).map(([name, area]) => [name, () => mutateCode(area)])),
  machine: () => mutateMachine({ fast: values.fast, every }),
  template: () => mutateTemplate({ every }),
};

const unknown = positionals.filter((name) => !(name in runs));
if (unknown.length > 0) {
  console.error(`There is no area ${unknown.join(", ")}. The areas are ${Object.keys(runs).join(", ")}.`);
  process.exit(2);
}
setPriority(10);
for (const [name, run] of Object.entries(runs)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const { count, survivors } = await run();
  const score = (100 * (count - survivors.length)) / count;
  console.log(`${name}: ${score.toFixed(1)} % of ${count} changes are noticed`);
  for (const survivor of survivors) console.log(`  ${survivor}`);
}
