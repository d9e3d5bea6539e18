import { limits } from "../../../api/limits.ts";
import { Problem } from "../../http/problem.ts";
import type { Update } from "../../table/entity.ts";
import { OrganizationTotals, type TotalsRow } from "./rows.ts";

const countMax = {
  projects: limits.projectsPerOrganizationMax,
  databases: limits.databasesPerOrganizationMax,
  storages: limits.storagesPerOrganizationMax,
  members: limits.membersPerOrganizationMax,
} as const;
export type Counted = keyof typeof countMax;

/** Counts one more; fails if the organization has reached the limit. */
export function countUp(organizationId: string, kind: Counted): Update<TotalsRow> {
  const when = { [kind]: { is: "absentOrBelow", value: countMax[kind] } } as const;
  return OrganizationTotals.update({ organizationId }, { add: { [kind]: 1 } }, when);
}

/** Counts one less. */
export function countDown(organizationId: string, kind: Counted): Update<TotalsRow> {
  return OrganizationTotals.update({ organizationId }, { add: { [kind]: -1 } });
}

/** The organization has reached the limit (docs/api.md, Limits). */
export function limitReached(kind: Counted): Problem {
  return new Problem("limit_reached", `An organization has at most ${countMax[kind]} ${kind}. Delete one first.`);
}
