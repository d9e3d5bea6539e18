import { globSync, rmSync } from "node:fs";
import { matchesGlob } from "node:path";
import { type Area, templateTests } from "./areas.ts";
import { copyOfProject, root } from "./copy-of-project.ts";
import type { Outcome } from "./definitions.ts";
import { instrument } from "./instrument.ts";
import type { Workplace } from "./run-tests.ts";
import { TestFile, type Verdicts } from "./test-file.ts";

/** Durations of tests in milliseconds: quick tests run first, so that few changes are left for slow ones, which deploy apps. */
const limits = [30, 300, 3_000, Number.POSITIVE_INFINITY];

export interface Effort {
  /** A glob pattern: these test files are run whole for each change that cannot be tried in place. */
  whole: string | undefined;
  /** Tests that take longer are left out. */
  millisecondsMax: number;
}

interface Changes extends Effort {
  workplace: Workplace;
  /** Glob patterns of test files. */
  tests: string[];
  /** If set, only tests whose full name matches are run in place. */
  named?: RegExp | undefined;
  /** The description of each change by its id; absent if only the tests know the changes. */
  mutants?: Map<string, string>;
}

async function tryAll({ workplace, tests, named, mutants: known, whole, millisecondsMax }: Changes): Promise<Outcome> {
  const verdicts: Verdicts = { noticed: new Set(), tried: new Set() };
  const names = tests.flatMap((pattern) => globSync(pattern, { cwd: workplace.copy }).sort());
  const files = [...new Set(names)].map((name) => new TestFile(workplace, name, verdicts, named));
  for (const file of files) await file.look();
  const mutants = known ?? new Map(files.flatMap(({ reached }) => reached).map((id) => [id, id]));
  for (const limit of new Set(limits.map((one) => Math.min(one, millisecondsMax)))) {
    for (const file of files) {
      await file.tryInPlace(limit);
      const what = `${file.file}, tests of up to ${limit} ms`;
      console.log(`${new Date().toISOString()} ${verdicts.noticed.size} of ${mutants.size} noticed after ${what}`);
    }
  }
  const ofWhole = files.filter(({ file }) => whole !== undefined && matchesGlob(file, whole));
  for (const file of ofWhole) await file.tryWhole();
  const survivors = [...mutants]
    .filter(([id]) => !verdicts.noticed.has(id))
    .map(([id, what]) => `${what} (${verdicts.tried.has(id) ? "survived" : "not reached"})`);
  return { count: mutants.size, survivors };
}

/** Patterns are separated by commas; braces in a pattern may contain commas too. */
const isChosen = (name: string, patterns: string | undefined) =>
  patterns === undefined || matchesGlob(name, `{${patterns},}`);

/** Tries every change of an area's files with the tests that reach it; `files` are patterns that select some of these files. */
export async function mutateCode(
  area: Area,
  { files, ...effort }: Effort & { files?: string | undefined },
): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const part of [area].flat()) {
    const names = globSync(part.files, { cwd: root }).filter((name) => isChosen(name, files));
    if (names.length === 0) continue;
    const copy = copyOfProject();
    try {
      const mutants = new Map((await instrument(copy, names)).map(({ id, what }) => [id, what]));
      const workplace = { copy, config: "vitest.config.ts" } as const;
      outcomes.push(await tryAll({ workplace, tests: part.tests, named: part.named, mutants, ...effort }));
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }
  return {
    count: outcomes.reduce((sum, { count }) => sum + count, 0),
    survivors: outcomes.flatMap(({ survivors }) => survivors),
  };
}

/** Removes each condition, statement and protection from the synthesized template; only every `every`-th is tried. */
export async function mutateTemplate({ every, ...effort }: Effort & { every: number }): Promise<Outcome> {
  process.env.MUTATE_EVERY = String(every);
  const copy = copyOfProject();
  try {
    const workplace = { copy, config: "template.config.ts" } as const;
    return await tryAll({ workplace, tests: templateTests, ...effort });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
