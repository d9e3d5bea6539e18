import * as z from "zod";
import { roles } from "../../../api/role.ts";
import { tokenAccesses } from "../../../api/route.ts";
import { entity } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

export const Membership = entity(
  () => z.object({ userId: z.string(), organizationId: z.string(), organizationName: z.string(), role: z.enum(roles) }),
  (k: { userId: string; organizationId: string }) => ({ pk: `USR#${k.userId}`, sk: `MEM#${k.organizationId}` }),
  (of: { userId: string }) => ({ pk: `USR#${of.userId}`, prefix: "MEM#" }),
);

export const Token = entity(
  () =>
    z.object({
      id: z.string(),
      userId: z.string(),
      hash: z.string(),
      description: z.string(),
      /** Absent: everything. */
      access: z.enum(tokenAccesses).optional(),
      /** The organizations that it is for; absent: all of the user. */
      organizationIds: z.array(z.string()).optional(),
      expiresAt: at().optional(),
      ttl: z.int().optional(),
      createdAt: at(),
      lastUsedAt: at().optional(),
    }),
  (k: { userId: string; id: string }) => ({ pk: `USR#${k.userId}`, sk: `TOK#${k.id}` }),
  (of: { userId: string }) => ({ pk: `USR#${of.userId}`, prefix: "TOK#" }),
);
/** Finds a token's user by the token's id alone, for its revocation. */
export const TokenOwner = entity(
  () => z.object({ userId: z.string(), ttl: z.int().optional() }),
  (k: { id: string }) => ({
    pk: `TOK#${k.id}`,
    sk: "TOK",
  }),
);

/** A key by its access key. `manual` keys are the project's own, listed in `ProjectKeys`; the others are the operator's. */
export const AccessKey = entity(
  () =>
    z.object({
      access: z.string(),
      hash: z.string(),
      organizationId: z.string(),
      projectId: z.string(),
      credentialId: z.int(),
      manual: z.boolean(),
      description: z.string(),
      createdAt: at(),
      lastUsedAt: at().optional(),
    }),
  (k: { access: string }) => ({ pk: `KEY#${k.access}`, sk: "KEY" }),
);

const projectKey = () =>
  z.object({
    id: z.int(),
    access: z.string(),
    description: z.string(),
    createdAt: at(),
    lastUsedAt: at().optional(),
  });
/** The row has an attribute `key_<id>` for each key; the schema turns them into a list. */
const projectKeysSchema = () => {
  const keySchema = projectKey();
  return z.looseObject({ lastId: z.int(), held: z.int() }).transform(({ lastId, held, ...rest }) => ({
    lastId,
    held,
    keys: Object.entries(rest)
      .filter(([name]) => name.startsWith("key_"))
      .map(([, key]) => keySchema.parse(key)),
  }));
};
export type ProjectKeysRow = z.infer<ReturnType<typeof projectKeysSchema>>;

/**
 * The app keys of a project in one row, an attribute `key_<id>` each, so that "at most three" (`held`) and "ids only
 * grow" (`lastId`) are conditions of one write.
 */
export const ProjectKeys = entity(projectKeysSchema, (k: { projectId: string }) => ({
  pk: `PRJ#${k.projectId}`,
  sk: "KEYS",
}));

export const Session = entity(
  () => z.object({ organizationId: z.string(), hash: z.string(), expiresAt: at(), ttl: z.int() }),
  (k: { id: string }) => ({ pk: `SES#${k.id}`, sk: "SES" }),
);
