import { spawn } from "node:child_process";
import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Area } from "./areas.ts";
import { copyOfProject } from "./copy-of-project.ts";
import type { Outcome } from "./definitions.ts";
import { instrument, type Mutant } from "./instrument.ts";
import { type Plan, type Result, resultSchema } from "./protocol.ts";

/** How long a process of tests may report nothing before it counts as endless. */
const silenceMaxMs = 240_000;

interface FileOfTests {
  file: string;
  /** By test: how often it reaches each change, and how long it takes. */
  tests: Map<string, { name: string; milliseconds: number; mutants: string[] }>;
  outside: string[];
}

/** Runs one file of tests in the copy. True if all of them passed; a process that reports nothing any more is ended. */
function runTests(copy: string, file: string, environment: Record<string, string>, results?: string): Promise<boolean> {
  const child = spawn(
    join(copy, "node_modules/.bin/vitest"),
    ["run", "--config=scripts/mutate/vitest.config.ts", "--bail=1000000"],
    { cwd: copy, env: { ...process.env, MUTATE_TESTS: file, ...environment }, stdio: "ignore", detached: true },
  );
  const started = Date.now();
  const watch = setInterval(() => {
    const last = results !== undefined && existsSync(results) ? statSync(results).mtimeMs : started;
    if (Date.now() - last > silenceMaxMs && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }, 1_000);
  return new Promise((resolve) => {
    child.on("exit", (code) => {
      clearInterval(watch);
      resolve(code === 0);
    });
  });
}

class Trial {
  readonly #copy: string;
  readonly #killed = new Set<string>();
  readonly #tried = new Set<string>();
  /** Changes that only a run of the whole file can try, by file. */
  readonly #whole = new Map<string, Set<string>>();

  constructor(copy: string) {
    this.#copy = copy;
  }

  isKilled = (id: string) => this.#killed.has(id);
  isTried = (id: string) => this.#tried.has(id);

  async #run(file: string, plan: Omit<Plan, "results">): Promise<{ results: Result[]; passed: boolean }> {
    const results = join(this.#copy, "mutate-results.jsonl");
    const planFile = join(this.#copy, "mutate-plan.json");
    rmSync(results, { force: true });
    writeFileSync(planFile, JSON.stringify({ ...plan, results } satisfies Plan));
    const passed = await runTests(this.#copy, file, { MUTATE_PLAN: planFile }, results);
    const lines = existsSync(results) ? readFileSync(results, "utf8").split("\n") : [];
    return { passed, results: lines.filter(Boolean).map((line) => resultSchema.parse(JSON.parse(line))) };
  }

  /** What each test of a file reaches. */
  async look(file: string): Promise<FileOfTests> {
    let looked = await this.#run(file, {});
    // On a busy machine a service may not start in time.
    if (!looked.passed) looked = await this.#run(file, {});
    if (!looked.passed) throw new Error(`${file} fails without a change`);
    const tests: FileOfTests["tests"] = new Map();
    const outside: string[] = [];
    for (const result of looked.results) {
      if ("hits" in result) {
        const { test, name, milliseconds, hits } = result;
        tests.set(test, { name, milliseconds, mutants: Object.keys(hits) });
      }
      if ("static" in result) outside.push(...result.static);
    }
    return { file, tests, outside };
  }

  /** Tries what the tests of a file reach, again and again where a change has spoilt the services. */
  async tryInPlace({ file, tests }: FileOfTests): Promise<void> {
    const milliseconds = Object.fromEntries([...tests].map(([id, test]) => [id, test.milliseconds]));
    const done = new Set<string>();
    const unrepeatable = new Set<string>();
    const alone: string[] = [];
    const first: string[] = [];
    const left = () =>
      Object.fromEntries(
        [...tests]
          .filter(([id]) => !unrepeatable.has(id))
          .map(([id, { mutants }]): [string, string[]] => {
            const open = mutants.filter((mutant) => !this.#killed.has(mutant) && !done.has(`${id} ${mutant}`));
            return [id, open.sort((one, other) => first.indexOf(other) - first.indexOf(one))];
          })
          .filter(([, mutants]) => mutants.length > 0),
      );
    let only: string | undefined;
    for (;;) {
      const mutants = left();
      if (only !== undefined && !(only in mutants)) only = undefined;
      only ??= alone.find((id) => id in mutants);
      const others = Object.fromEntries(Object.entries(mutants).filter(([id]) => !alone.includes(id)));
      const plan = Object.keys(others).length > 0 ? others : only !== undefined ? { [only]: mutants[only] ?? [] } : {};
      if (Object.keys(plan).length === 0) break;
      const { results } = await this.#run(file, { mutants: plan, milliseconds });
      let isProgress = false;
      let running: { test: string; mutant: string } | undefined;
      for (const result of results) {
        if ("started" in result) running = result;
        if ("killed" in result) {
          running = undefined;
          isProgress = true;
          done.add(`${result.test} ${result.mutant}`);
          this.#tried.add(result.mutant);
          if (result.killed) this.#killed.add(result.mutant);
        }
        if ("failed" in result) {
          running = undefined;
          if (result.failed === "second" || (result.failed === "first" && alone.includes(result.test))) {
            unrepeatable.add(result.test);
            isProgress = true;
          } else if (result.failed === "first") {
            alone.push(result.test);
            isProgress = true;
          } else {
            isProgress = true;
            first.push(result.failed);
          }
        }
      }
      // The process ended while this change was on: it has made the test endless, or ended the process.
      if (running) {
        isProgress = true;
        done.add(`${running.test} ${running.mutant}`);
        this.#tried.add(running.mutant);
        this.#killed.add(running.mutant);
      }
      if (!isProgress) {
        for (const id of Object.keys(plan)) unrepeatable.add(id);
      }
    }
    for (const id of unrepeatable) {
      console.log(`  not repeatable: ${file} ${tests.get(id)?.name}`);
      this.#addWhole(file, tests.get(id)?.mutants ?? []);
    }
  }

  #addWhole(file: string, mutants: string[]): void {
    const known = this.#whole.get(file) ?? new Set();
    for (const mutant of mutants) known.add(mutant);
    this.#whole.set(file, known);
  }

  addOutside({ file, outside }: FileOfTests): void {
    this.#addWhole(file, outside);
  }

  /** Tries the rest with one run of the whole file for each change. */
  async tryWhole(files: string[]): Promise<void> {
    for (const file of files) {
      const mutants = [...(this.#whole.get(file) ?? [])].filter((id) => !this.#killed.has(id));
      console.log(`  ${mutants.length} changes with a run of all of ${file}`);
      for (const mutant of mutants) {
        this.#tried.add(mutant);
        if (!(await runTests(this.#copy, file, { __STRYKER_ACTIVE_MUTANT__: mutant }))) this.#killed.add(mutant);
      }
    }
  }
}

/** Tries every change of an area's files with the tests that reach it. */
export async function mutateCode(
  area: Area,
  options: { files?: string | undefined; whole: boolean },
): Promise<Outcome> {
  const copy = copyOfProject();
  try {
    const mutants: Mutant[] = await instrument(copy, options.files === undefined ? area.files : [options.files]);
    const trial = new Trial(copy);
    const counted = () => mutants.filter(({ id }) => trial.isKilled(id)).length;
    const files = area.tests.flatMap((pattern) => globSync(pattern, { cwd: copy }).sort());
    const looked: FileOfTests[] = [];
    for (const file of files) {
      const tests = await trial.look(file);
      looked.push(tests);
      trial.addOutside(tests);
      await trial.tryInPlace(tests);
      console.log(`${file}: ${counted()} of ${mutants.length} noticed so far`);
    }
    if (options.whole) await trial.tryWhole(files);
    const survivors = mutants
      .filter(({ id }) => !trial.isKilled(id))
      .map(({ id, what }) => `${what} (${trial.isTried(id) ? "survived" : "not reached"})`);
    return { count: mutants.length, survivors };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
