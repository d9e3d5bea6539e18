import type { OutputRemover } from "../../aws/output-removal.ts";
import { Build } from "../../builds/model/rows.ts";
import type { TableReader } from "../../table/reader.ts";

const buildsAtOnce = 100;

/** Deletes the output of a project's image builds; their rows, which name it, must still exist. */
export async function removeBuildOutput(
  { table, outputRemover }: { table: TableReader; outputRemover: OutputRemover },
  projectId: string,
): Promise<void> {
  let after: string | undefined;
  for (;;) {
    const { rows, more } = await table.list(Build.list({ projectId }, { limit: buildsAtOnce, after }));
    await outputRemover.removeBuilds(rows.flatMap(({ buildLog }) => buildLog ?? []));
    if (!more) return;
    after = rows.at(-1)?.id;
  }
}
