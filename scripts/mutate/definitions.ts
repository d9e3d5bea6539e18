import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyOfProject, root } from "./copy-of-project.ts";
import { machineRemovals, type Removal, without } from "./definition-mutants.ts";

/** How many changes there are, and descriptions of those that no test noticed. */
export interface Outcome {
  count: number;
  survivors: string[];
}

const minutesMax = 30;

/** Whether the tests pass. A run over the time limit counts as failed. */
function pass(folder: string, tests: string[]): boolean {
  const { status } = spawnSync(
    join(root, "node_modules/.bin/vitest"),
    ["run", "--bail=1", "--maxWorkers=1", ...tests],
    {
      cwd: folder,
      stdio: "ignore",
      timeout: minutesMax * 60_000,
    },
  );
  return status === 0;
}

function tryAll(all: Removal[], every: number, notices: (removal: Removal) => boolean): Outcome {
  const removals = all.filter((_, index) => index % every === 0);
  const survivors: string[] = [];
  for (const [index, removal] of removals.entries()) {
    const noticed = notices(removal);
    if (!noticed) survivors.push(removal.what);
    console.log(`${index + 1}/${removals.length} ${noticed ? "noticed" : "NOT NOTICED"} ${removal.what}`);
  }
  return { count: removals.length, survivors };
}

const machineFile = "statemachines/deployment.asl.json";
const fastTests = [["test/unit/statemachines"]];
const slowTests = [["test/synth/template.test.ts"], ["test/pipeline"]];

/** Removes each rule of the state machine in a copy of the project. `fast` leaves out slow tests; only every `every`-th rule is tried. */
export function mutateMachine(options: { fast: boolean; every: number }): Outcome {
  const work = copyOfProject();
  const machine = JSON.parse(readFileSync(join(root, machineFile), "utf8"));
  const suites = options.fast ? fastTests : [...fastTests, ...slowTests];
  try {
    if (!suites.every((tests) => pass(work, tests))) throw new Error("The tests fail without a change");
    return tryAll(machineRemovals(machine), options.every, ({ path }) => {
      writeFileSync(join(work, machineFile), JSON.stringify(without(machine, path), null, 2));
      return suites.some((tests) => !pass(work, tests));
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
