import type { ProjectReply } from "../../../api/projects.ts";
import { changedSettings, noSettings } from "../../../api/stored-settings.ts";
import { Project, ProjectEntry, type ProjectRow } from "../../http/model/project.ts";
import { countedVersion, countUp } from "../../organizations/model/totals.ts";
import { absent, type Condition } from "../../table/entity.ts";
import { newId, randomText } from "../../table/ids.ts";

type Wanted = Parameters<typeof changedSettings>[1];

/** A project as callers see it. */
export function projectReply(row: Omit<ProjectRow, "secret" | "version">): ProjectReply {
  const { id, name, settings, managers, createdAt, updatedAt } = row;
  return {
    id,
    name,
    settings: { ...noSettings, ...settings },
    managers: managers ?? null,
    createdAt,
    updatedAt: updatedAt ?? createdAt,
  };
}

/** Both rows of a project; one that was never counted gets its entry from `migrate`, together with the count. */
function rowsOf(row: ProjectRow, when: Condition) {
  const { secret: _, ...entry } = row;
  return {
    project: Project.put(row, row, when),
    entry: row.version < countedVersion ? undefined : ProjectEntry.put(row, entry),
  };
}

/** A new project, counted in its organization. */
export function newProject(
  { organizationId, name, settings }: { organizationId: string; name: string; settings?: Wanted | undefined },
  now: Date,
) {
  const at = now.toISOString();
  const row: ProjectRow = {
    id: newId("prj", now),
    organizationId,
    name,
    secret: randomText(32),
    ...(settings && { settings: changedSettings(undefined, settings) }),
    version: countedVersion,
    createdAt: at,
    updatedAt: at,
  };
  return { row, writes: { ...rowsOf(row, { pk: absent }), totals: countUp(organizationId, "projects") } };
}

/** The change of a project; fails if the project has changed since it was read. */
export function changedProject(stored: ProjectRow, change: Partial<ProjectRow>, now: Date) {
  const row: ProjectRow = { ...stored, ...change, updatedAt: laterThan(stored, now) };
  const when = { organizationId: stored.organizationId, updatedAt: stored.updatedAt ?? absent };
  return { row, writes: rowsOf(row, when) };
}

/** Always later than before: two changes in one millisecond must differ for the condition. */
function laterThan({ updatedAt, createdAt }: ProjectRow, now: Date): string {
  return new Date(Math.max(now.getTime(), Date.parse(updatedAt ?? createdAt) + 1)).toISOString();
}
