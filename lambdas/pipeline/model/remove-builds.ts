import * as z from "zod";
import type { OutputRemover } from "../../aws/output-removal.ts";
import type { TaskDefinitionRemover } from "../../aws/task-definition-removal.ts";
import { Build } from "../../builds/model/rows.ts";
import type { Item } from "../../table/entity.ts";
import type { TableReader } from "../../table/reader.ts";
import type { TableWriter } from "../../table/writer.ts";

interface Tools {
  table: TableReader & TableWriter;
  outputRemover: OutputRemover;
  definitionRemover: TaskDefinitionRemover;
}

/** The rows of so many builds are deleted together, after everything that they name. */
const buildsAtOnce = 20;
/** AWS allows few of these calls a second, so a project with thousands of builds takes several invocations. */
const workMs = 120_000;

const prefix = "BLD#";
/** A step that began before the deletion can have made a row of a deleted build; it holds only what that step sets. */
const remains = z
  .object({ sk: z.string().startsWith(prefix), buildLog: z.string().optional() })
  .transform(({ sk, buildLog }) => ({ id: sk.slice(prefix.length), buildLog }));

/**
 * Deletes a project's builds: the task definitions and the output of each, then its row, so that the next invocation
 * continues where this one ended. False if builds are left.
 */
export async function removeBuilds(
  { table, outputRemover, definitionRemover }: Tools,
  projectId: string,
): Promise<boolean> {
  const until = Date.now() + workMs;
  for (;;) {
    const { rows, more } = await table.list({
      ...Build.list({ projectId }, { limit: buildsAtOnce }),
      read: (item: Item) => remains.parse(item),
    });
    for (const { id } of rows) await definitionRemover.remove(id);
    await outputRemover.removeBuilds(rows.flatMap(({ buildLog }) => buildLog ?? []));
    if (rows.length > 0)
      await table.write(Object.fromEntries(rows.map(({ id }) => [id, Build.delete({ projectId, id })])));
    if (!more) return true;
    if (Date.now() > until) return false;
  }
}
