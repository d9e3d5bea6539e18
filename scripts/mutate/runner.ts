import { appendFileSync, readFileSync } from "node:fs";
import type { RunnerTestCase as Test } from "vitest";
import { TestRunner } from "vitest";
import { loopBudget } from "./endless-loops.ts";
import { planSchema, type Result } from "./protocol.ts";

const plan = planSchema.parse(JSON.parse(readFileSync(process.env.MUTATE_PLAN ?? "", "utf8")));
const report = (result: Result) => appendFileSync(plan.results, `${JSON.stringify(result)}\n`);

interface Switches {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number;
  /** Changes that any test may notice; set if changes are not in instrumented code. */
  everywhere?: string[];
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
}
/** The instrumented code determines these names. */
const switches: Switches = Reflect.get(globalThis, "__stryker__") ?? {};
Reflect.set(globalThis, "__stryker__", switches);

/** More hits of one change in a test mean an endless loop: without a change, no test has so many. */
const hitLimit = 300_000;

/** The limit of loop iterations with a change: many more than without one. */
const roundsMax = (usual: number) => usual * 20 + 1_000_000;

// The real functions, even while a test uses fake timers.
const { setTimeout, clearTimeout } = globalThis;

/** The state of a test between its repetitions. */
interface Progress {
  left: string[];
  current: string | undefined;
  /** A change with which the test just failed; it counts as noticed only if the test then passes without it. */
  suspect: string | undefined;
  /** Whether the test passed without a change after the last change. */
  isFresh: boolean;
  isDirty: boolean;
}

/**
 * Runs each test many times in place: once without a change, then once with each change that it reaches. The services
 * of the test file keep running, so that trying a change takes only the time of the test's body.
 */
// biome-ignore lint/style/noDefaultExport: vitest takes the default export as its runner
export default class InPlaceRunner extends TestRunner {
  readonly #killed = new Set<string>();
  readonly #progress = new Map<string, Progress>();
  #isBroken = false;

  override async onBeforeRunTask(test: Test): Promise<void> {
    await super.onBeforeRunTask(test);
    const left = (plan.mutants?.[test.id] ?? []).filter((id) => !this.#killed.has(id));
    this.#progress.set(test.id, { left, current: undefined, suspect: undefined, isFresh: false, isDirty: false });
    // The second run without a change shows whether the test can be repeated.
    test.repeats = left.length === 0 ? 0 : left.length * 2 + 1;
    test.retry = 0;
  }

  async runTask(test: Test): Promise<void> {
    const progress = this.#progress.get(test.id);
    if (!progress || progress.isDirty || this.#isBroken) return;
    const isChanged = (test.result?.repeatCount ?? 0) > 1;
    progress.current = undefined;
    if (isChanged && progress.suspect === undefined) {
      progress.left = progress.left.filter((id) => !this.#killed.has(id));
      progress.current = progress.left.shift();
      if (progress.current === undefined) return;
      report({ test: test.id, mutant: progress.current, started: true });
    }
    const started = performance.now();
    if (plan.mutants === undefined) switches.currentTestId = test.id;
    switches.activeMutant = progress.current;
    switches.hitCount = 0;
    switches.hitLimit = hitLimit;
    loopBudget.left =
      plan.mutants === undefined ? Number.MAX_SAFE_INTEGER : roundsMax(plan.usual?.[test.id]?.rounds ?? 0);
    let rounds = 0;
    try {
      await this.#inTime(test);
    } finally {
      switches.activeMutant = undefined;
      switches.currentTestId = undefined;
      rounds = Number.MAX_SAFE_INTEGER - loopBudget.left;
      // Hooks between the tests may call the instrumented code too.
      switches.hitCount = 0;
      loopBudget.left = Number.MAX_SAFE_INTEGER;
    }
    if (plan.mutants === undefined) {
      const everywhere = Object.fromEntries((switches.everywhere ?? []).map((id) => [id, 1]));
      const hits = switches.mutantCoverage?.perTest[test.id] ?? everywhere;
      const usual = { milliseconds: performance.now() - started, rounds };
      report({ test: test.id, name: test.fullName, usual, hits });
    }
  }

  async #inTime(test: Test): Promise<void> {
    const usual = plan.usual?.[test.id]?.milliseconds;
    const limit = usual === undefined ? 600_000 : usual * 4 + 5_000;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("The test takes too long with this change")), limit);
    });
    await Promise.race([TestRunner.getTestFn(test)(), late]).finally(() => clearTimeout(timer));
  }

  override async onAfterRetryTask(test: Test, options: Parameters<TestRunner["onAfterRetryTask"]>[1]): Promise<void> {
    await super.onAfterRetryTask(test, options);
    const progress = this.#progress.get(test.id);
    if (!progress || progress.isDirty || this.#isBroken || plan.mutants === undefined) return;
    const isFailed = test.result?.state === "fail";
    if (test.result) delete test.result.errors;
    const { current, suspect } = progress;
    if (current !== undefined) {
      if (isFailed) progress.suspect = current;
      else report({ test: test.id, mutant: current, killed: false });
      if (!isFailed) progress.isFresh = false;
      return;
    }
    if (suspect === undefined && options.repeats > 1) return;
    progress.suspect = undefined;
    if (suspect !== undefined && (!isFailed || progress.isFresh)) {
      report({ test: test.id, mutant: suspect, killed: true });
      this.#killed.add(suspect);
    }
    progress.isFresh = !isFailed;
    if (!isFailed) return;
    report({ test: test.id, failed: suspect ?? (options.repeats === 0 ? "first" : "second") });
    progress.isDirty = true;
    // Services may have kept results of the changed code, so only a new process can continue.
    if (suspect !== undefined) this.#isBroken = true;
  }

  override async onAfterRunFiles(...files: Parameters<TestRunner["onAfterRunFiles"]>): Promise<void> {
    super.onAfterRunFiles(...files);
    if (plan.mutants === undefined) report({ static: Object.keys(switches.mutantCoverage?.static ?? {}) });
  }
}
