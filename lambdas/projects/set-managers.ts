import { isId } from "../../api/ids.ts";
import { setManagers } from "../../api/projects.ts";
import { endpoint } from "../http/endpoint.ts";
import { invalid } from "../http/problem.ts";
import { Member, type MemberRow, OrganizationTotals, type TotalsRow } from "../organizations/model/rows.ts";
import { absent, type Place } from "../table/entity.ts";
import { changeProject } from "./model/change-project.ts";
import { projectReply } from "./model/project.ts";

/** The named members; throws 400 if one is not a member. */
function managersOf(userIds: readonly string[], members: Readonly<Record<string, MemberRow | undefined>>) {
  return userIds.map((id) => {
    const member = members[id];
    if (!member) throw invalid([{ path: "userIds", message: "must name members of the organization" }]);
    return { id, name: member.name, email: member.email };
  });
}

/** Fails if a member has left since the totals were read: leaving reads and changes the same revisions. */
function countChange(organizationId: string, totals: TotalsRow | undefined) {
  const when = { leaversRevision: totals?.leaversRevision ?? absent };
  return OrganizationTotals.update({ organizationId }, { add: { managersRevision: 1 } }, when);
}

export const handler = endpoint(setManagers, async (call) => {
  const { orgId: organizationId } = call.params;
  const { userIds } = call.body;
  if (userIds === null) {
    const row = await changeProject(call, {}, () => ({ set: { managerIds: undefined, managers: undefined } }));
    return { project: projectReply(row) };
  }
  const places: Record<string, Place<MemberRow>> = Object.fromEntries(
    userIds.filter((id) => isId("usr", id)).map((id) => [id, Member.at({ organizationId, id })]),
  );
  const totalsAt = OrganizationTotals.at({ organizationId });
  const row = await changeProject(call, { ...places, totals: totalsAt }, (_, { totals, ...members }) => ({
    set: { managerIds: userIds, managers: managersOf(userIds, members as Record<string, MemberRow | undefined>) },
    writes: { totals: countChange(organizationId, totals as TotalsRow | undefined) },
  }));
  return { project: projectReply(row) };
});
