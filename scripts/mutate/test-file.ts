import type { Effort, Result } from "./protocol.ts";
import { noticedBy, runPlan, type Workplace } from "./run-tests.ts";

/** The ids of the changes of one area that tests noticed, and of those that were tried. */
export interface Verdicts {
  noticed: Set<string>;
  tried: Set<string>;
}

/** How many changes one process tries if it runs the whole file for each. */
const groupSize = 25;

interface Test {
  name: string;
  /** Its duration and loop iterations without a change. */
  usual: Effort;
  /** The changes in code that it runs. */
  mutants: string[];
}

/** A test file, and the changes of an area that were tried with each of its tests. */
export class TestFile {
  readonly file: string;
  readonly #workplace: Workplace;
  readonly #verdicts: Verdicts;
  readonly #named: RegExp | undefined;
  readonly #tests = new Map<string, Test>();
  /** Changes that only a run of the whole file can try. */
  readonly #whole = new Set<string>();
  readonly #done = new Set<string>();
  /** Changes to try first in a new process: in the last one, the test still failed after the change was switched off. */
  readonly #suspects: string[] = [];
  /** Tests that fail after other tests were repeated, so they need their own process. */
  readonly #alone = new Set<string>();
  readonly #unrepeatable = new Set<string>();

  constructor(workplace: Workplace, file: string, verdicts: Verdicts, named?: RegExp) {
    this.#workplace = workplace;
    this.file = file;
    this.#verdicts = verdicts;
    this.#named = named;
  }

  /** The changes that the tests reach. */
  get reached(): string[] {
    return [...this.#tests.values()].flatMap(({ mutants }) => mutants);
  }

  /** Runs the file without a change and records what each test reaches. */
  async look(): Promise<void> {
    let looked = await runPlan(this.#workplace, this.file, {});
    // On a busy machine a service may not start in time.
    if (!looked.passed) looked = await runPlan(this.#workplace, this.file, {});
    if (!looked.passed) throw new Error(`${this.file} fails without a change`);
    for (const result of looked.results) {
      if ("hits" in result) {
        const { test, name, usual, hits } = result;
        const words = name.replace(`${this.file} > `, "").replaceAll(" > ", " ");
        if (this.#named?.test(words) === false) continue;
        this.#tests.set(test, { name, usual, mutants: Object.keys(hits) });
      }
      if ("static" in result) for (const mutant of result.static) this.#whole.add(mutant);
    }
  }

  /** Tries the changes that tests of up to this duration reach. Starts a new process whenever a change damages the services. */
  async tryInPlace(millisecondsMax: number): Promise<void> {
    const usual = Object.fromEntries([...this.#tests].map(([id, test]) => [id, test.usual]));
    for (;;) {
      const left = this.#left(millisecondsMax);
      const together = Object.entries(left).filter(([id]) => !this.#alone.has(id));
      const next = together.length > 0 ? together : Object.entries(left).slice(0, 1);
      if (next.length === 0) return;
      const { results } = await runPlan(this.#workplace, this.file, {
        mutants: Object.fromEntries(next),
        usual,
      });
      // A process that ended without a result would do so again.
      if (!this.#read(results)) for (const [id] of next) this.#unrepeatable.add(id);
    }
  }

  /** The changes that must still be tried, by test. */
  #left(millisecondsMax: number): Record<string, string[]> {
    const rank = (mutant: string) => -this.#suspects.indexOf(mutant);
    const open = [...this.#tests]
      .filter(([id, test]) => !this.#unrepeatable.has(id) && test.usual.milliseconds <= millisecondsMax)
      .map(([id, { mutants }]): [string, string[]] => {
        const left = mutants.filter((one) => !this.#verdicts.noticed.has(one) && !this.#done.has(`${id} ${one}`));
        return [id, left.sort((one, other) => rank(one) - rank(other))];
      });
    return Object.fromEntries(open.filter(([, mutants]) => mutants.length > 0));
  }

  #note(test: string, mutant: string, noticed: boolean): void {
    this.#done.add(`${test} ${mutant}`);
    this.#verdicts.tried.add(mutant);
    if (noticed) this.#verdicts.noticed.add(mutant);
  }

  /** Records the results of a process; false if there are none. */
  #read(results: Result[]): boolean {
    let isProgress = false;
    let running: { test: string; mutant: string } | undefined;
    for (const result of results) {
      if ("started" in result) {
        running = result;
        continue;
      }
      if ("killed" in result) this.#note(result.test, result.mutant, result.killed);
      else if ("failed" in result) this.#noteFailure(result.test, result.failed);
      else continue;
      isProgress = true;
      running = undefined;
    }
    if (!running) return isProgress;
    // The process ended while this change was on, so the change made the test hang or ended the process.
    this.#note(running.test, running.mutant, true);
    return true;
  }

  #noteFailure(test: string, failed: string): void {
    if (failed !== "first" && failed !== "second") this.#suspects.push(failed);
    else if (failed === "first" && !this.#alone.has(test)) this.#alone.add(test);
    else if (!this.#unrepeatable.has(test)) {
      this.#unrepeatable.add(test);
      console.log(`  cannot be repeated: ${this.#tests.get(test)?.name}`);
    }
  }

  /** Tries the remaining changes with one run of the whole file for each. */
  async tryWhole(): Promise<void> {
    for (const id of this.#unrepeatable) {
      for (const mutant of this.#tests.get(id)?.mutants ?? []) this.#whole.add(mutant);
    }
    const left = [...this.#whole].filter((mutant) => !this.#verdicts.noticed.has(mutant));
    if (left.length > 0) console.log(`  ${left.length} changes with a run of all of ${this.file}`);
    for (let from = 0; from < left.length; from += groupSize) {
      const group = left.slice(from, from + groupSize);
      for (const mutant of await noticedBy(this.#workplace, this.file, group)) this.#verdicts.noticed.add(mutant);
      for (const mutant of group) this.#verdicts.tried.add(mutant);
    }
  }
}
