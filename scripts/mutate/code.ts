import { globSync, rmSync } from "node:fs";
import type { Area } from "./areas.ts";
import { copyOfProject } from "./copy-of-project.ts";
import type { Outcome } from "./definitions.ts";
import { instrument } from "./instrument.ts";
import { TestFile, type Verdicts } from "./test-file.ts";

/** Quick tests are tried first, in every file: they leave little to those that deploy an app. */
const millisecondsMax = [1_000, 5_000, Number.POSITIVE_INFINITY];

/** Tries every change of an area's files with the tests that reach it. */
export async function mutateCode(
  area: Area,
  options: { files?: string | undefined; whole: boolean },
): Promise<Outcome> {
  const copy = copyOfProject();
  try {
    const mutants = await instrument(copy, options.files === undefined ? area.files : options.files.split(","));
    const verdicts: Verdicts = { noticed: new Set(), tried: new Set() };
    const names = area.tests.flatMap((pattern) => globSync(pattern, { cwd: copy }).sort());
    const files = [...new Set(names)].map((name) => new TestFile(copy, name, verdicts));
    const progress = (what: string) => {
      const count = mutants.filter(({ id }) => verdicts.noticed.has(id)).length;
      console.log(`${new Date().toISOString()} ${count} of ${mutants.length} noticed after ${what}`);
    };
    for (const file of files) await file.look();
    for (const limit of millisecondsMax) {
      for (const file of files) {
        await file.tryInPlace(limit);
        progress(`${file.file}, tests of up to ${limit} ms`);
      }
    }
    if (options.whole) for (const file of files) await file.tryWhole();
    const survivors = mutants
      .filter(({ id }) => !verdicts.noticed.has(id))
      .map(({ id, what }) => `${what} (${verdicts.tried.has(id) ? "survived" : "not reached"})`);
    return { count: mutants.length, survivors };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
