import { deleteMember } from "../../api/members.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { lastOwner } from "../organizations/model/members.ts";
import { OrganizationTotals } from "../organizations/model/rows.ts";
import type { Writes } from "../table/writer.ts";
import { memberAt, requireRole, roleFor, stillHasRole } from "./model/change.ts";
import { projectsManagedBy, removalOf, withoutManager } from "./model/removal.ts";

/** Two writes each, in a transaction of at most 100 with the membership's own. */
const projectsAtOnce = 40;

/** Removes the user from the lists of managers and from the organization; more than 40 projects need several transactions. */
export const handler = endpoint(
  deleteMember,
  async ({ params, access, now }, { table }) => {
    const { orgId: organizationId } = params;
    /** Changes a page of projects; with the last page, it removes the membership too. */
    async function leave() {
      const { member, totals } = await access.read({
        member: memberAt(params),
        totals: OrganizationTotals.at({ organizationId }),
      });
      if (!member) throw notFound();
      const caller = access.caller();
      const isOwn = caller.kind === "user" && caller.userId === member.id;
      const least = roleFor(member.role);
      if (!isOwn) requireRole(caller, least);
      if (member.role === "owner" && (totals?.owners ?? 0) <= 1) throw lastOwner();
      const managed = await projectsManagedBy(table, member);
      const leaving: Writes = Object.assign(
        {},
        ...managed.slice(0, projectsAtOnce).map((project) => withoutManager(project, member.id, now)),
      );
      const isLast = managed.length <= projectsAtOnce;
      const { ok } = await access.commit<Writes>({
        caller: isOwn ? undefined : stillHasRole(caller, organizationId, least),
        ...leaving,
        ...(isLast && removalOf(member, totals)),
      });
      return { ok, isLast };
    }
    return retryConflicts("The member", async () => {
      let page = await leave();
      while (page.ok && !page.isLast) page = await leave();
      return page.ok ? { member: params.userId } : undefined;
    });
  },
  { exists: (params) => ({ member: memberAt(params) }) },
);
