import { isId } from "../../../api/ids.ts";
import { type Role, rolesFrom } from "../../../api/role.ts";
import { Membership } from "../../http/model/credentials.ts";
import { type Caller, forbidden } from "../../http/proof.ts";
import { Member } from "../../organizations/model/rows.ts";
import { oneOf } from "../../table/entity.ts";

/** The place of the member in the path; `none` is the place of no row. */
export function memberAt({ orgId, userId }: { orgId: string; userId: string }) {
  return Member.at({ organizationId: isId("org", orgId) ? orgId : "none", id: isId("usr", userId) ? userId : "none" });
}

/** The least role that may change these roles: only owners grant and remove the role owner. */
export function roleFor(...changed: (Role | undefined)[]): "owner" | "admin" {
  return changed.includes("owner") ? "owner" : "admin";
}

/** Throws 403 for a caller whose role is less; the route itself asks for admin. */
export function requireRole(caller: Caller, least: Role): void {
  if (caller.kind !== "user" || !caller.role || !rolesFrom(least).includes(caller.role)) throw forbidden(least);
}

/** Fails if the caller has lost the role in the meantime. */
export function stillHasRole(caller: Caller, organizationId: string, least: Role) {
  const userId = caller.kind === "user" ? caller.userId : "none";
  return Membership.check({ userId, organizationId }, { role: oneOf(...rolesFrom(least)) });
}

/** The role in a body, even if the body is invalid, because 403 comes before 400. */
export function roleNamed(text: string | undefined): Role | undefined {
  try {
    const body: unknown = JSON.parse(text ?? "");
    return typeof body === "object" && body !== null && "role" in body && body.role === "owner" ? "owner" : undefined;
  } catch {
    return undefined;
  }
}
