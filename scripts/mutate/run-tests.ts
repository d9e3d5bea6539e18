import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as z from "zod";
import { resetLoops } from "./endless-loops.ts";
import { type Plan, type Result, resultSchema } from "./protocol.ts";

/** How long a test process may report nothing before it is killed: while services start, and during a test. */
const silenceMaxMs = { start: 240_000, test: 30_000 };

function readResults(results: string): Result[] {
  const lines = existsSync(results) ? readFileSync(results, "utf8").split("\n") : [];
  // The last line may be incomplete.
  return lines.slice(0, -1).map((line) => resultSchema.parse(JSON.parse(line)));
}

/** A copy of the project, and the configuration with which its tests run. */
export interface Workplace {
  copy: string;
  config: "vitest.config.ts" | "template.config.ts";
}

/** Runs one test file in the copy; true if all tests passed. A process that stops reporting is killed. */
function run(
  { copy, config }: Workplace,
  file: string,
  environment: Record<string, string>,
  { results, usual = {} }: Partial<Plan> = {},
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
    const limit = isInTest ? silenceMaxMs.test + 5 * (usual[result.test]?.milliseconds ?? 0) : silenceMaxMs.start;
    if (Date.now() - last > limit) process.kill(-child.pid, "SIGKILL");
  }, 1_000);
  return new Promise((resolve) => {
    child.on("exit", (code) => {
      clearInterval(watch);
      resolve(code === 0);
    });
  });
}

/** The time limit of a group of runs, for each of its changes. */
const groupSecondsMax = 20;

const report = z.object({ testResults: z.array(z.object({ name: z.string(), status: z.string() })) });

/** The text of a test file that runs another one with a change switched on, and skips its tests after the first failed one. */
const textWith = (file: string, mutant: string) => `import { beforeEach, vi } from "vitest";
let failed = false;
beforeEach((test) => {
  if (failed) test.skip();
  test.onTestFailed(() => { failed = true; });
});
vi.resetModules();
Object.assign((globalThis.__stryker__ ??= {}), { activeMutant: ${JSON.stringify(mutant)} });
${resetLoops}
await import("../${file}");
`;

/** The changes with which a test of the file fails. Each change gets its own run and is on from its start. */
export async function noticedBy(workplace: Workplace, file: string, mutants: readonly string[]): Promise<string[]> {
  const folder = join(workplace.copy, "mutate-runs");
  const output = join(folder, "report.json");
  mkdirSync(folder);
  // Pure tests can load the changed code again in the same process. A service leaves state behind, so each run needs a new process.
  const sharing = file.startsWith("test/unit/") ? ["--no-isolate"] : [];
  const numberOf = (mutant: string) => String(mutants.indexOf(mutant));
  for (const mutant of mutants) {
    writeFileSync(join(folder, `${numberOf(mutant)}.test.ts`), textWith(file, mutant));
  }
  const child = spawn(
    join(workplace.copy, "node_modules/.bin/vitest"),
    ["run", `--config=scripts/mutate/${workplace.config}`, "--reporter=json", `--outputFile=${output}`, ...sharing],
    {
      cwd: workplace.copy,
      env: { ...process.env, MUTATE_TESTS: "mutate-runs/*.test.ts" },
      stdio: "ignore",
      detached: true,
    },
  );
  const end = setTimeout(
    () => child.pid && process.kill(-child.pid, "SIGKILL"),
    mutants.length * groupSecondsMax * 1000,
  );
  await once(child, "exit");
  clearTimeout(end);
  const results = existsSync(output) ? report.parse(JSON.parse(readFileSync(output, "utf8"))).testResults : undefined;
  rmSync(folder, { recursive: true });
  if (results === undefined) {
    // The group did not finish, so a change hangs or crashes the process: each change gets its own process.
    const alone: string[] = [];
    for (const mutant of mutants) if (!(await passesWith(workplace, file, mutant))) alone.push(mutant);
    return alone;
  }
  const failed = results.filter(({ status }) => status !== "passed").map(({ name }) => basename(name, ".test.ts"));
  return mutants.filter((mutant) => failed.includes(numberOf(mutant)));
}

/** Whether all tests of a file pass while this change is on from the start. */
function passesWith(workplace: Workplace, file: string, mutant: string): Promise<boolean> {
  return run(workplace, file, { __STRYKER_ACTIVE_MUTANT__: mutant });
}

/** Runs a test file in place, as the plan says. */
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
