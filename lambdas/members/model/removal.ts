import { limits } from "../../../api/limits.ts";
import { Membership } from "../../http/model/credentials.ts";
import { Project, ProjectEntry, type ProjectRow } from "../../http/model/project.ts";
import { Member, type MemberRow, OrganizationTotals, type TotalsRow } from "../../organizations/model/rows.ts";
import { changedProject } from "../../projects/model/project.ts";
import { SignInLink } from "../../sign-in/model/link.ts";
import { absent, type Requirement } from "../../table/entity.ts";
import type { TableReader } from "../../table/reader.ts";
import type { Writes } from "../../table/writer.ts";

/** The organization's projects that have this user among their managers. */
export async function projectsManagedBy(table: TableReader, { organizationId, id }: MemberRow): Promise<ProjectRow[]> {
  const max = limits.projectsPerOrganizationMax;
  const { rows } = await table.list(ProjectEntry.list({ organizationId }, { limit: max }));
  const managed = rows.filter(({ managerIds }) => managerIds?.includes(id));
  const found = await table.read(Object.fromEntries(managed.map((one) => [one.id, Project.at({ id: one.id })])));
  return Object.values(found).filter((project) => project !== undefined);
}

/** Removes the user from a project's managers. */
export function withoutManager(project: ProjectRow, userId: string, now: Date): Writes {
  const managerIds = (project.managerIds ?? []).filter((id) => id !== userId);
  const managers = (project.managers ?? []).filter(({ id }) => id !== userId);
  const { writes } = changedProject(project, { managerIds, managers }, now);
  return { [`${project.id}:project`]: writes.project, [`${project.id}:entry`]: writes.entry };
}

/**
 * Ends a membership. The write of `totals` fails for the last owner, and if a project's managers have changed since the
 * totals were read. An invitation that was not used ends with it.
 */
export function removalOf(member: MemberRow, totals: TotalsRow | undefined) {
  const { organizationId, id, role } = member;
  const revision: number | Requirement = totals?.managersRevision ?? absent;
  const isOwner = role === "owner";
  return {
    membership: Membership.delete({ userId: id, organizationId }, { role }),
    member: Member.delete({ organizationId, id }, { role }),
    totals: OrganizationTotals.update(
      { organizationId },
      { add: { members: -1, leaversRevision: 1, ...(isOwner && { owners: -1 }) } },
      { managersRevision: revision, ...(isOwner && { owners: { is: "above", value: 1 } as const }) },
    ),
    invitation: member.invitation ? SignInLink.delete({ codeHash: member.invitation }) : undefined,
  };
}
