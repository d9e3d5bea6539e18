import * as z from "zod";
import { roles } from "../../../api/role.ts";
import { entity } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

/** `secret` seals the cursors of its lists; rows from before there were such lists lack it until they are migrated. */
export const Organization = entity(
  () => z.object({ id: z.string(), name: z.string(), secret: z.string().optional(), createdAt: at() }),
  (k: { id: string }) => ({
    pk: `ORG#${k.id}`,
    sk: "ORG",
  }),
);

export const User = entity(
  () =>
    z.object({
      id: z.string(),
      email: z.string(),
      name: z.string(),
      createdAt: at(),
      /** Grows with every new passkey; absent before the first. */
      passkeyRevision: z.int().optional(),
    }),
  (k: { id: string }) => ({ pk: `USR#${k.id}`, sk: "USR" }),
);

/** A user by e-mail address in lower case, with what becoming a member needs. */
export const UserEmail = entity(
  () => z.object({ id: z.string(), email: z.string(), name: z.string() }),
  (k: { address: string }) => ({ pk: `EMAIL#${k.address}`, sk: "EMAIL" }),
);

const totalsSchema = () =>
  z.object({
    projects: z.int().optional(),
    databases: z.int().optional(),
    storages: z.int().optional(),
    members: z.int().optional(),
    owners: z.int().optional(),
    /** Grow with every change of a project's managers, and with every member who leaves. */
    managersRevision: z.int().optional(),
    leaversRevision: z.int().optional(),
  });
export type TotalsRow = z.infer<ReturnType<typeof totalsSchema>>;
/** How much of each kind an organization has, so that its limits are conditions of one write. */
export const OrganizationTotals = entity(totalsSchema, (k: { organizationId: string }) => ({
  pk: `ORG#${k.organizationId}`,
  sk: "TOTALS",
}));

const memberSchema = () =>
  z.object({
    id: z.string(),
    organizationId: z.string(),
    name: z.string(),
    email: z.string(),
    role: z.enum(roles),
    createdAt: at(),
    /** The one-time link that invited the user, by the hash of its code. */
    invitation: z.string().optional(),
  });
export type MemberRow = z.infer<ReturnType<typeof memberSchema>>;
/** A member in the organization's partition, so that one query lists all; changes with the `Membership`. */
export const Member = entity(
  memberSchema,
  (k: { organizationId: string; id: string }) => ({ pk: `ORG#${k.organizationId}`, sk: `MBR#${k.id}` }),
  (of: { organizationId: string }) => ({ pk: `ORG#${of.organizationId}`, prefix: "MBR#" }),
);
