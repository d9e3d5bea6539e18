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

/** The version of the rows of projects, databases and storages that are counted; earlier ones wait for `migrate`. */
export const countedVersion = 2;

/** Counts one less, if the row was counted. */
export function countDown(
  { organizationId, version }: { organizationId: string; version: number },
  kind: Counted,
): Update<TotalsRow> | undefined {
  if (version < countedVersion) return undefined;
  return OrganizationTotals.update({ organizationId }, { add: { [kind]: -1 } });
}

/** The organization has reached the limit (docs/api.md, Limits). */
export function limitReached(kind: Counted): Problem {
  return new Problem("limit_reached", `An organization has at most ${countMax[kind]} ${kind}. Delete one first.`);
}
