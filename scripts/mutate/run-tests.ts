import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Plan, type Result, resultSchema } from "./protocol.ts";

/** How long a process of tests may report nothing before it counts as endless: while services start, and in a test. */
const silenceMaxMs = { start: 240_000, test: 30_000 };

function readResults(results: string): Result[] {
  const lines = existsSync(results) ? readFileSync(results, "utf8").split("\n") : [];
  // The last line may be half written.
  return lines.slice(0, -1).map((line) => resultSchema.parse(JSON.parse(line)));
}

/** A copy of the project, and the configuration with which its tests run. */
export interface Workplace {
  copy: string;
  config: "vitest.config.ts" | "template.config.ts";
}

/** Runs one file of tests in the copy. True if all of them passed; a process that reports nothing any more is ended. */
function run(
  { copy, config }: Workplace,
  file: string,
  environment: Record<string, string>,
  { results, milliseconds = {} }: Partial<Plan> = {},
): Promise<boolean> {
  const child = spawn(
    join(copy, "node_modules/.bin/vitest"),
    ["run", `--config=scripts/mutate/${config}`, ...(results === undefined ? ["--bail=1"] : [])],
    { cwd: copy, env: { ...process.env, MUTATE_TESTS: file, ...environment }, stdio: "ignore", detached: true },
  );
  const started = Date.now();
  const watch = setInterval(() => {
    const reported = results !== undefined && existsSync(results);
    const last = reported ? statSync(results).mtimeMs : started;
    if (Date.now() - last < silenceMaxMs.test || child.pid === undefined) return;
    const result = reported ? readResults(results).at(-1) : undefined;
    const isInTest = result !== undefined && "started" in result;
    const limit = isInTest ? silenceMaxMs.test + 5 * (milliseconds[result.test] ?? 0) : silenceMaxMs.start;
    if (Date.now() - last > limit) process.kill(-child.pid, "SIGKILL");
  }, 1_000);
  return new Promise((resolve) => {
    child.on("exit", (code) => {
      clearInterval(watch);
      resolve(code === 0);
    });
  });
}

/** Whether all tests of a file pass while this change is on from the start. */
export function passesWith(workplace: Workplace, file: string, mutant: string): Promise<boolean> {
  return run(workplace, file, { __STRYKER_ACTIVE_MUTANT__: mutant });
}

/** Runs a file of tests as the plan says, in place. */
export async function runPlan(
  workplace: Workplace,
  file: string,
  plan: Omit<Plan, "results">,
): Promise<{ results: Result[]; passed: boolean }> {
  const results = join(workplace.copy, "mutate-results.jsonl");
  const planFile = join(workplace.copy, "mutate-plan.json");
  rmSync(results, { force: true });
  writeFileSync(planFile, JSON.stringify({ ...plan, results } satisfies Plan));
  const passed = await run(workplace, file, { MUTATE_PLAN: planFile }, { ...plan, results });
  return { passed, results: readResults(results) };
}
