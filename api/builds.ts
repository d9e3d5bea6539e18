import * as z from "zod";
import { buildStatus, detected, finding, runtime } from "./build.ts";
import { cursor, optionalText, pageLimit, timestamp } from "./common.ts";
import { limits } from "./limits.ts";
import { route } from "./route.ts";

const build = z.object({
  id: z.string(),
  title: z.string().nullable(),
  description: z.string().nullable(),
  commit: z.null(),
  version: z.null(),
  runtime: runtime.nullable(),
  size: z.int().nullable(),
  status: buildStatus,
  error: z.string().nullable(),
  suggestion: z.string().nullable(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});
export const redeployBlock = z.enum(["live", "not_successful", "canceled", "outside_window"]);
export type RedeployBlock = z.infer<typeof redeployBlock>;

const listedBuild = build.extend({
  isLive: z.boolean(),
  canRedeploy: z.boolean(),
  redeployBlockedBy: redeployBlock.nullable(),
});
const singleBuild = build.extend({
  warning: z.string().nullable(),
  canceledAt: timestamp().nullable(),
  isLive: z.boolean(),
  findings: z.array(finding),
  detected: detected.nullable(),
});
const canceledBuild = build.extend({ canceledAt: timestamp().nullable() });

export type BuildReply = z.infer<typeof build>;
export type ListedBuildReply = z.infer<typeof listedBuild>;
export type SingleBuildReply = z.infer<typeof singleBuild>;
export type CanceledBuildReply = z.infer<typeof canceledBuild>;

const project = "/organizations/{orgId}/projects/{projectId}" as const;

export const listEndpoints = route("list-endpoints", `GET ${project}/endpoints`, {
  summary: "The addresses of the project: the default one and its active custom domains.",
  reply: () => z.object({ endpoints: z.array(z.string()) }),
  status: 200,
  errors: [],
  uses: ["table:read", "apps:read"],
});

export const listBuilds = route("list-builds", `GET ${project}/builds`, {
  summary: "The builds of the project, newest first.",
  query: () => z.object({ limit: pageLimit(limits.buildsPageMax, limits.buildsPageDefault), cursor: cursor() }),
  tool: {
    name: "list_builds",
    description: "The builds of a project, newest first; isLive marks the one that serves.",
  },
  reply: () =>
    z.object({
      builds: z.array(listedBuild),
      nextCursor: z.string().nullable(),
      redeployAvailability: z.union([
        z.object({ status: z.literal("available") }),
        z.object({ status: z.literal("temporarily_unavailable"), retryAfter: z.number() }),
      ]),
    }),
  status: 200,
  errors: [],
  uses: ["table:read", "live-build:cache", "apps:read"],
});

export const createBuild = route("create-build", `POST ${project}/builds`, {
  summary: "Creates a build and the address its archive is uploaded to.",
  event: "commit",
  body: () =>
    z.object({
      title: optionalText(limits.titleLengthMax),
      description: optionalText(limits.descriptionLengthMax),
    }),
  reply: () => z.object({ build, url: z.string() }),
  status: 201,
  errors: ["not_a_manager", "build_in_progress", "idempotency_mismatch"],
  tokens: "deploy",
  uses: ["table:read", "table:write", "archives:upload", "deployments:start"],
});

export const getBuild = route("get-build", `GET ${project}/builds/{buildId}`, {
  summary: "One build; polled until its status is ready or error, or canceledAt is set.",
  reply: () => z.object({ build: singleBuild }),
  status: 200,
  errors: [],
  uses: ["table:read", "live-build:cache", "apps:read", "apps:exits", "build-values:read", "logs:read"],
});

export const cancelBuild = route("cancel-build", `POST ${project}/builds/{buildId}/cancel`, {
  event: "commit",
  summary: "Marks a build as canceled; the project can be built again at once.",
  tool: { name: "cancel_build", description: "Cancels a build that is pending, analyzing or building." },
  reply: () => z.object({ build: canceledBuild }),
  status: 200,
  errors: ["build_finished", "build_deploying", "idempotency_mismatch"],
  tokens: "deploy",
  uses: ["table:read", "table:write"],
});

export const rebuild = route("rebuild", `POST ${project}/rebuild`, {
  summary: "Builds the deployed source again, with the current environment variables.",
  event: "commit",
  tool: { name: "rebuild", description: "Builds the deployed source again; applies changed variables." },
  reply: () => z.object({ build }),
  status: 201,
  errors: [
    "not_a_manager",
    "build_in_progress",
    "never_deployed",
    "deployed_build_not_successful",
    "source_gone",
    "live_unknown",
    "idempotency_mismatch",
  ],
  tokens: "deploy",
  uses: ["table:read", "table:write", "live-build:cache", "archives:read", "deployments:start", "apps:read"],
});

export const redeployBuild = route("redeploy-build", `POST ${project}/builds/{buildId}/redeploy`, {
  summary: "Runs the whole pipeline again on the archive of an earlier successful build.",
  event: "commit",
  tool: { name: "redeploy", description: "Builds the source of an earlier build again, if its canRedeploy is true." },
  reply: () => z.object({ build }),
  status: 201,
  errors: [
    "not_a_manager",
    "build_in_progress",
    "build_not_successful",
    "build_canceled",
    "build_already_live",
    "build_outside_window",
    "source_gone",
    "live_unknown",
    "idempotency_mismatch",
  ],
  tokens: "deploy",
  uses: ["table:read", "table:write", "live-build:cache", "archives:read", "deployments:start", "apps:read"],
});

export const buildStage = z.enum(["pending", "analyzing", "building", "deploying", "ready", "error"]);

export const listBuildLogs = route("list-build-logs", `GET ${project}/builds/{buildId}/logs`, {
  summary: "Build and start-up output, oldest first, with secrets masked.",
  query: () => z.object({ limit: pageLimit(limits.logsPageMax, limits.logsPageDefault), cursor: cursor() }),
  tool: { name: "get_build_logs", description: "Build and start-up output, oldest first, secrets masked." },
  reply: () =>
    z.object({
      lines: z.array(z.object({ at: timestamp(), stage: z.string(), text: z.string() })),
      nextCursor: z.string().nullable(),
    }),
  status: 200,
  errors: [],
  uses: ["table:read", "build-values:read", "logs:read"],
});

/** Output and measurements of running apps: routes of the same folder of handlers. */
export { getMetrics, listAppLogs } from "./app-output.ts";
