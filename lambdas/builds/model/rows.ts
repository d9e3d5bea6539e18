import * as z from "zod";
import { buildStatus, detected, finding, runtime } from "../../../api/build.ts";
import { settings } from "../../../api/stored-settings.ts";
import { entity } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

/** Where a build's archive comes from: uploaded by the client, or copied from another build's pinned version. */
const buildSource = () =>
  z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("upload") }),
    z.object({ kind: z.literal("copy"), buildId: z.string(), key: z.string(), version: z.string(), size: z.int() }),
  ]);
export type BuildSource = z.infer<ReturnType<typeof buildSource>>;

const buildSchema = () =>
  z.object({
    id: z.string(),
    projectId: z.string(),
    organizationId: z.string(),
    title: z.string().nullable(),
    description: z.string().nullable(),
    status: buildStatus,
    source: buildSource(),
    runtime: runtime.nullable(),
    size: z.int().nullable(),
    error: z.string().nullable(),
    suggestion: z.string().nullable(),
    warning: z.string().nullable(),
    findings: z.array(finding),
    createdAt: at(),
    updatedAt: at(),
    canceledAt: at().optional(),
    /** The object version that is analyzed and built, pinned when the upload is seen. */
    archive: z.object({ key: z.string(), version: z.string() }).optional(),
    /** The task token of the execution while it waits for the upload. */
    uploadToken: z.string().optional(),
    /** The port its container listens on. */
    port: z.int().optional(),
    /** The command that starts it, as detected. */
    start: z.string().optional(),
    /** What the project's settings and slipway.json said when its analysis started. */
    settings: settings().optional(),
    /** What detection says without the settings; absent in rows from before it was recorded. */
    detected: detected.optional(),
    /** The task definition this build runs as. */
    taskDefinition: z.string().optional(),
    /** The task definition and the task of its release command, and when the task was started. */
    releaseDefinition: z.string().optional(),
    releaseTask: z.string().optional(),
    releasedAt: at().optional(),
    /** What served before the swap, recorded by the write that sets `deploying`; null when nothing did. */
    previous: z
      .object({
        taskDefinition: z.string(),
        buildId: z.string().nullable(),
        /** How it ran; absent in rows from before there were settings. */
        healthPath: z.string().optional(),
        instances: z.int().optional(),
      })
      .nullable()
      .optional(),
    /** When the deployment first waited for an earlier one to finish; absent when it did not. */
    waitedAt: at().optional(),
    /** Log streams of the image build and of the app's first task. */
    buildLog: z.string().optional(),
    appLog: z.string().optional(),
    releaseLog: z.string().optional(),
  });
export type BuildRow = z.infer<ReturnType<typeof buildSchema>>;

export const Build = entity(
  buildSchema,
  (k: { projectId: string; id: string }) => ({ pk: `PRJ#${k.projectId}`, sk: `BLD#${k.id}` }),
  (of: { projectId: string }) => ({ pk: `PRJ#${of.projectId}`, prefix: "BLD#" }),
);

const lockSchema = () =>
  z.object({
    organizationId: z.string(),
    projectId: z.string(),
    buildId: z.string(),
    status: buildStatus,
    source: z.enum(["upload", "copy"]),
    createdAt: at(),
    /** After this instant reconcile-locks checks that the execution still runs. */
    leaseUntil: at(),
    /** Partition of the sparse index `locks`: only locks are in it. */
    lockShard: z.literal("LOCK"),
  });
export type LockRow = z.infer<ReturnType<typeof lockSchema>>;
/** One build at a time: the row exists while a build of the project runs, and names it. */
export const Lock = entity(lockSchema, (k: { projectId: string }) => ({ pk: `PRJ#${k.projectId}`, sk: "LOCK" }));

const liveBuildCacheSchema = () =>
  z.object({
    buildId: z.string().nullable(),
    readAt: at(),
    /** Whether its app keeps ending by itself, as last read from ECS; absent before that was read. */
    crashes: z.object({ buildId: z.string(), readAt: at(), message: z.string().nullable() }).optional(),
  });
export type LiveBuildCacheRow = z.infer<ReturnType<typeof liveBuildCacheSchema>>;
/** The build that serves the project, as last read from ECS; trusted for a few seconds. */
export const LiveBuildCache = entity(liveBuildCacheSchema, (k: { projectId: string }) => ({
  pk: `PRJ#${k.projectId}`,
  sk: "LIVE",
}));

/** The newest successful builds, newest first, from which canRedeploy follows without reading history. */
export const RedeployableBuilds = entity(
  () => z.object({ buildIds: z.array(z.string()) }),
  (k: { projectId: string }) => ({
    pk: `PRJ#${k.projectId}`,
    sk: "READY",
  }),
);

const addressesSchema = () =>
  z.object({
    url: z.string().optional(),
    domains: z.record(z.string(), z.enum(["pending", "active"])).default({}),
    /** When each domain was added; one that was added before this was recorded is as old as its project. */
    domainDates: z.record(z.string(), at()).optional(),
    /** Counts the changes of `domains`. */
    revision: z.int().optional(),
  });
export type AddressesRow = z.infer<ReturnType<typeof addressesSchema>>;
/** The project's addresses: that of the ECS gateway, once known, and custom domains. */
export const Addresses = entity(addressesSchema, (k: { projectId: string }) => ({
  pk: `PRJ#${k.projectId}`,
  sk: "ADDR",
}));

/** Makes a domain unique among all projects. */
export const DomainName = entity(
  () => z.object({ projectId: z.string() }),
  (k: { domain: string }) => ({
    pk: `DOM#${k.domain}`,
    sk: "DOM",
  }),
);
