import { setPriority } from "node:os";
import { parseArgs } from "node:util";
import { areas } from "./mutate/areas.ts";
import { mutateCode, mutateTemplate } from "./mutate/code.ts";
import { mutateMachine, type Outcome } from "./mutate/definitions.ts";

/**
 * Changes the code in small ways and counts the changes that no test notices:
 * `npm run mutate [-- area…] [--files pattern] [--fast] [--whole pattern] [--slowest ms] [--every n]`
 * (docs/testing.md). One worker at low priority, because a full run takes hours.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    fast: { type: "boolean", default: false },
    every: { type: "string", default: "1" },
    files: { type: "string" },
    whole: { type: "string", default: "**" },
    slowest: { type: "string", default: "Infinity" },
  },
});

/** Which tests are run. */
const effort = { whole: values.fast ? undefined : values.whole, millisecondsMax: Number(values.slowest) };
/** Tries only every n-th change of the state machine and the template. */
const every = Number(values.every);

const runs: Record<string, () => Promise<Outcome> | Outcome> = {
  ...Object.fromEntries(
    Object.entries(areas).map(([name, area]) => [name, () => mutateCode(area, { files: values.files, ...effort })]),
  ),
  machine: () => mutateMachine({ fast: values.fast, every }),
  template: () => mutateTemplate({ ...effort, every }),
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
