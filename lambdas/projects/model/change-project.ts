import type { Access } from "../../http/access.ts";
import { Project, type ProjectRow } from "../../http/model/project.ts";
import { notFound } from "../../http/problem.ts";
import { retryConflicts } from "../../http/retry.ts";
import type { Places, Rows } from "../../table/reader.ts";
import type { Writes } from "../../table/writer.ts";
import { changedProject } from "./project.ts";

/** The fields that a change sets, and the rows that are written with it. */
interface Change {
  set: Partial<ProjectRow>;
  writes?: Writes;
}

/** Reads a project with these rows and changes it; tries again if another request changed it in between. */
export async function changeProject<const P extends Places>(
  call: { access: Access; params: { projectId: string }; now: Date },
  places: P,
  change: (project: ProjectRow, rows: Rows<P>) => Change,
): Promise<ProjectRow> {
  const { access, params, now } = call;
  return retryConflicts("The project", async () => {
    const rows: Rows<P & { project: ReturnType<typeof Project.at> }> = await access.read({
      ...places,
      project: Project.at({ id: params.projectId }),
    });
    const stored = rows.project as ProjectRow | undefined;
    if (!stored) throw notFound();
    const { set, writes } = change(stored, rows as Rows<P>);
    const changed = changedProject(stored, set, now);
    const outcome = await access.commit({ ...writes, ...changed.writes });
    if (outcome.ok) return changed.row;
    return undefined;
  });
}
