import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Instrumenter } from "@stryker-mutator/instrumenter";
import { logTexts } from "./ignored.ts";

/** A small change of the code; the instrumented code contains it and makes it while its id is switched on. */
export interface Mutant {
  id: string;
  /** File, line and change, for the report. */
  what: string;
}

const silent = () => undefined;
const logger = {
  ...{ isTraceEnabled: () => false, isDebugEnabled: () => false, isInfoEnabled: () => false },
  ...{ isWarnEnabled: () => true, isErrorEnabled: () => true, isFatalEnabled: () => true },
  ...{ trace: silent, debug: silent, info: silent, warn: console.error, error: console.error, fatal: console.error },
};

/** Instruments these files in a copy of the project: each change is made only while it is switched on. */
export async function instrument(copy: string, names: string[]): Promise<Mutant[]> {
  const files = names
    .toSorted()
    .map((name) => ({ name, mutate: true, content: readFileSync(join(copy, name), "utf8") }));
  const options = { plugins: null, excludedMutations: [], ignorers: [logTexts] };
  const instrumented = await new Instrumenter(logger).instrument(files, options);
  for (const { name, content } of instrumented.files) writeFileSync(join(copy, name), content);
  return instrumented.mutants
    .filter(({ status }) => status !== "Ignored")
    .map(({ id, fileName, location: { start }, mutatorName, replacement }) => {
      const change = (replacement ?? "").replaceAll(/\s+/g, " ").slice(0, 100);
      return { id, what: `${fileName}:${start.line + 1}:${start.column + 1} ${mutatorName} → ${change}` };
    });
}
