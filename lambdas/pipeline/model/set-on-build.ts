import { Build, type BuildRow } from "../../builds/model/rows.ts";
import { present } from "../../table/entity.ts";
import type { TableWriter } from "../../table/writer.ts";

/** Sets fields of a build. A build that was deleted with its project stays deleted: its row would have these fields only. */
export async function setOnBuild(
  table: TableWriter,
  { projectId, id }: { projectId: string; id: string },
  set: Partial<BuildRow>,
): Promise<void> {
  await table.write({ build: Build.update({ projectId, id }, { set }, { pk: present }) });
}
