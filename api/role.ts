/** The roles of an organization's members, least first (docs/api.md, Roles). */
export const roles = ["member", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

/** The roles that include at least the rights of this one. */
export function rolesFrom(least: Role): readonly Role[] {
  return roles.slice(roles.indexOf(least));
}
