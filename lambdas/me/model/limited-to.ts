import { isId } from "../../../api/ids.ts";
import { Membership } from "../../http/model/credentials.ts";
import { invalid, type Problem } from "../../http/problem.ts";
import type { Places } from "../../table/reader.ts";

/** The rows that show to which of the organizations a user belongs, by the organization's id. */
export function membershipsOf(userId: string, organizationIds: readonly string[]): Places {
  const ids = organizationIds.filter((id) => isId("org", id));
  return Object.fromEntries(ids.map((id) => [id, Membership.at({ userId, organizationId: id })]));
}

/** The 400 for a token that names an organization that its creator cannot give access to; `undefined` if there is none. */
export function foreignOrganization(
  organizationIds: readonly string[],
  memberships: Readonly<Record<string, unknown>>,
  only?: readonly string[],
): Problem | undefined {
  const foreign = organizationIds.filter((id) => !memberships[id] || only?.includes(id) === false);
  if (foreign.length === 0) return undefined;
  const message = "must name organizations of the user that this token has access to";
  return invalid([{ path: "organizationIds", message }]);
}
