import * as z from "zod";
import { buildStatus } from "../../api/builds.ts";
import { role } from "../../api/organizations.ts";
import { fileStatus } from "../../api/storage.ts";
import { buildSchema, type RingRow, ringSchema } from "./schemas.ts";
import { entity } from "./entity.ts";

export type { BuildRow, BuildSource } from "./schemas.ts";

/** The rows of the single table. pk groups what is read together: a project with its builds, a user with its tokens. */
const at = z.iso.datetime({ precision: 3 });

export const Organization = entity(
  z.object({ id: z.string(), name: z.string(), createdAt: at }),
  (k: { id: string }) => ({
    pk: `ORG#${k.id}`,
    sk: "ORG",
  }),
);

export const managerSchema = z.object({ id: z.string(), name: z.string(), email: z.string() });

/** `secret` seals the project's cursors; `managerIds` is absent when the project is open to every member. */
export const projectSchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  name: z.string(),
  secret: z.string(),
  managerIds: z.array(z.string()).optional(),
  managers: z.array(managerSchema).optional(),
  createdAt: at,
});
export type ProjectRow = z.infer<typeof projectSchema>;
export const Project = entity(projectSchema, (k: { id: string }) => ({ pk: `PRJ#${k.id}`, sk: "PRJ" }));

export const User = entity(
  z.object({ id: z.string(), email: z.string(), name: z.string(), createdAt: at }),
  (k: { id: string }) => ({ pk: `USR#${k.id}`, sk: "USR" }),
);

export const Membership = entity(
  z.object({ userId: z.string(), organizationId: z.string(), organizationName: z.string(), role }),
  (k: { userId: string; organizationId: string }) => ({ pk: `USR#${k.userId}`, sk: `MEM#${k.organizationId}` }),
);

export const Token = entity(
  z.object({
    id: z.string(),
    userId: z.string(),
    hash: z.string(),
    description: z.string(),
    createdAt: at,
    lastUsedAt: at.optional(),
  }),
  (k: { userId: string; id: string }) => ({ pk: `USR#${k.userId}`, sk: `TOK#${k.id}` }),
);
/** Finds a token's user by the token's id alone, for its revocation. */
export const TokenOwner = entity(z.object({ userId: z.string() }), (k: { id: string }) => ({
  pk: `TOK#${k.id}`,
  sk: "TOK",
}));

/** A key by its access key. `manual` keys are the project's own, listed on its key ring; the others are the operator's. */
export const AccessKey = entity(
  z.object({
    access: z.string(),
    hash: z.string(),
    organizationId: z.string(),
    projectId: z.string(),
    credentialId: z.int(),
    manual: z.boolean(),
    description: z.string(),
    createdAt: at,
    lastUsedAt: at.optional(),
  }),
  (k: { access: string }) => ({ pk: `KEY#${k.access}`, sk: "KEY" }),
);

/**
 * The app keys of a project in one row, an attribute `key_<id>` each, so that "at most three" (`held`) and "ids only
 * grow" (`lastId`) are conditions of one write.
 */
export const KeyRing = {
  key: (k: { projectId: string }) => ({ pk: `PRJ#${k.projectId}`, sk: "KEYS" }),
  maybe: (item: Record<string, unknown> | undefined): RingRow | undefined =>
    item ? ringSchema.parse(item) : undefined,
};

export const Session = entity(
  z.object({ organizationId: z.string(), hash: z.string(), expiresAt: at, ttl: z.int() }),
  (k: { id: string }) => ({ pk: `SES#${k.id}`, sk: "SES" }),
);

export const Build = entity(buildSchema, (k: { projectId: string; id: string }) => ({
  pk: `PRJ#${k.projectId}`,
  sk: `BLD#${k.id}`,
}));

export const lockSchema = z.object({
  organizationId: z.string(),
  projectId: z.string(),
  buildId: z.string(),
  status: buildStatus,
  source: z.enum(["upload", "copy"]),
  createdAt: at,
  /** After this instant whoever meets the lock makes sure that its execution still lives. */
  leaseUntil: at,
  /** Partition of the sparse index `locks`: only locks are in it. */
  lockShard: z.literal("LOCK"),
});
export type LockRow = z.infer<typeof lockSchema>;
/** One build at a time: the row exists while a build of the project runs, and names it. */
export const Lock = entity(lockSchema, (k: { projectId: string }) => ({ pk: `PRJ#${k.projectId}`, sk: "LOCK" }));

/** What serves the project, as last read from the container service; trusted for a few seconds. */
export const Live = entity(z.object({ buildId: z.string().nullable(), readAt: at }), (k: { projectId: string }) => ({
  pk: `PRJ#${k.projectId}`,
  sk: "LIVE",
}));

/** The newest successful builds, newest first, from which canRedeploy follows without reading history. */
export const Successes = entity(z.object({ buildIds: z.array(z.string()) }), (k: { projectId: string }) => ({
  pk: `PRJ#${k.projectId}`,
  sk: "READY",
}));

/** The project's addresses: the container gateway's, once known, and custom domains. */
export const Addresses = entity(
  z.object({
    url: z.string().optional(),
    domains: z.record(z.string(), z.enum(["pending", "active"])).default({}),
    /** Counts the changes of `domains`. */
    revision: z.int().optional(),
  }),
  (k: { projectId: string }) => ({ pk: `PRJ#${k.projectId}`, sk: "ADDR" }),
);

export const variableSchema = z.object({
  id: z.string(),
  name: z.string(),
  value: z.string(),
  createdAt: at,
  updatedAt: at,
});
export const Variable = entity(variableSchema, (k: { projectId: string; id: string }) => ({
  pk: `PRJ#${k.projectId}`,
  sk: `ENV#${k.id}`,
}));
/** Makes a variable's name unique in its project. */
export const VariableName = entity(z.object({ id: z.string() }), (k: { projectId: string; name: string }) => ({
  pk: `PRJ#${k.projectId}`,
  sk: `ENVNAME#${k.name}`,
}));
export const VariableCount = entity(z.object({ count: z.int() }), (k: { projectId: string }) => ({
  pk: `PRJ#${k.projectId}`,
  sk: "ENVCOUNT",
}));

/** The remembered first answer to an Idempotency-Key (CONTRACT §1). */
export const Remembered = entity(
  z.object({ bodyHash: z.string(), reply: z.string(), expiresAt: at, ttl: z.int() }),
  (k: { hash: string }) => ({ pk: `IDEM#${k.hash}`, sk: "IDEM" }),
);

/** A database of an organization; `secret` seals the cursors of its lists. */
export const Database = entity(
  z.object({ id: z.string(), organizationId: z.string(), name: z.string(), secret: z.string(), createdAt: at }),
  (k: { id: string }) => ({ pk: `DBS#${k.id}`, sk: "DBS" }),
);

/** A storage of an organization, filed under it so that its storages are one query; `secret` seals its cursors. */
export const Storage = entity(
  z.object({
    id: z.string(),
    organizationId: z.string(),
    name: z.string(),
    status: z.literal("active"),
    secret: z.string(),
    createdAt: at,
    updatedAt: at,
  }),
  (k: { organizationId: string; id: string }) => ({ pk: `ORG#${k.organizationId}`, sk: `STO#${k.id}` }),
);

export const fileSchema = z.object({
  id: z.string(),
  storageId: z.string(),
  name: z.string(),
  mime: z.string(),
  size: z.int(),
  status: fileStatus,
  /** The object that size and status were read from; absent while nothing is stored. */
  object: z.object({ etag: z.string(), modifiedAt: at, version: z.string() }).optional(),
  /** Rises with every write: who has looked at S3 writes what it saw only if nobody has written since it read the row. */
  revision: z.int(),
  createdAt: at,
  updatedAt: at,
});
export type FileRow = z.infer<typeof fileSchema>;
export const File = entity(fileSchema, (k: { storageId: string; id: string }) => ({
  pk: `STO#${k.storageId}`,
  sk: `FIL#${k.id}`,
}));
