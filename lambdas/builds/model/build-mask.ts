import type { BuildValues } from "../../aws/build-values.ts";
import { variablesOf } from "../../environments/model/variables.ts";
import type { TableReader } from "../../table/reader.ts";
import { masker } from "./mask.ts";

/**
 * A function that masks a build's output: with the values that the build was made with, also after these were changed or
 * deleted. Builds for which none were kept are masked with the project's present values.
 */
export async function buildMask(
  build: { projectId: string; id: string },
  { table, values }: { table: TableReader; values: BuildValues },
): Promise<(line: string) => string> {
  const kept = await values.read(build.projectId, build.id);
  return masker(kept ?? (await variablesOf(table, build.projectId)).map(({ value }) => value));
}
