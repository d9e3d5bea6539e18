import * as z from "zod";
import type { Capability } from "../api/capabilities.ts";

/** The input of an execution, which has the build's id as its name. All other data is in the build's row. */
export const deploymentInput = z.object({
  organizationId: z.string(),
  projectId: z.string(),
  buildId: z.string(),
  source: z.enum(["upload", "copy"]),
});
export type DeploymentInput = z.infer<typeof deploymentInput>;

const archive = z.object({ version: z.string(), size: z.int() });
/** What the image build answers. */
const image = z.object({ digest: z.string(), log: z.string(), warning: z.string().nullable(), port: z.int() });
const deployed = z.object({
  serviceDeploymentArn: z.string(),
  since: z.iso.datetime({ precision: 3 }),
  /** The app's address; null until the gateway has assigned one. */
  url: z.string().nullable(),
});

/** The values that `finish` writes. The health check reads them, so that `finish` is one write that can be repeated. */
const ready = z.object({
  warning: z.string().nullable(),
  /** The log stream of the revision that serves now. */
  appLog: z.string().nullable(),
  /** The newest successful builds before this one. */
  successes: z.array(z.string()),
});

/** The error output of a Catch in Amazon States Language. */
const caught = z.object({ Error: z.string(), Cause: z.string().default("") });

export interface StepDefinition {
  input: z.ZodObject;
  output: z.ZodType;
  uses: readonly Capability[];
  /** The time-out of one invocation. */
  timeoutSeconds: number;
  /** In MiB; more memory also means more CPU. */
  memory: number;
}

/** The Lambdas of the state machine's steps, by file name: `lambdas/pipeline/<id>.ts`. */
export const steps = {
  "await-upload": {
    input: z.object({ deployment: deploymentInput, taskToken: z.string() }),
    output: z.object({}),
    uses: ["table:read", "table:write", "archives:read", "deployments:resume"],
    timeoutSeconds: 20,
    memory: 512,
  },
  "copy-archive": {
    input: z.object({ deployment: deploymentInput }),
    output: archive,
    uses: ["table:read", "table:write", "archives:read", "archives:copy"],
    timeoutSeconds: 120,
    memory: 512,
  },
  analyze: {
    input: z.object({ deployment: deploymentInput, archive }),
    output: z.object({
      archiveKey: z.string(),
      archiveVersion: z.string(),
      artifactPrefix: z.string(),
      port: z.int(),
      /** Whether a release command runs before the new revision starts. */
      releases: z.boolean(),
    }),
    uses: ["table:read", "table:write", "archives:read", "artifacts:write"],
    timeoutSeconds: 300,
    memory: 1769,
  },
  release: {
    input: z.object({ deployment: deploymentInput, image }),
    output: z.object({ done: z.boolean() }),
    uses: ["table:read", "table:write", "apps:read", "apps:deploy", "apps:run", "build-values:read", "logs:read"],
    timeoutSeconds: 60,
    memory: 512,
  },
  deploy: {
    input: z.object({ deployment: deploymentInput, image }),
    output: z.union([z.object({ waiting: z.literal(true) }), deployed.extend({ waiting: z.literal(false) })]),
    uses: ["table:read", "table:write", "apps:read", "apps:deploy", "apps:watch"],
    timeoutSeconds: 60,
    memory: 512,
  },
  "check-health": {
    input: z.object({ deployment: deploymentInput, deployed }),
    output: z.object({
      verdict: z.enum(["waiting", "healthy", "unhealthy"]),
      /** The reason for the user why the new revision is unhealthy. */
      reason: z.string().nullable(),
      /** Set only with `healthy`. */
      ready: ready.nullable(),
    }),
    uses: ["table:read", "table:write", "apps:read", "apps:watch", "apps:switch", "build-values:read", "logs:read"],
    timeoutSeconds: 60,
    memory: 512,
  },
  finish: {
    input: z.object({ deployment: deploymentInput, ready }),
    output: z.object({}),
    uses: ["table:read", "table:write"],
    timeoutSeconds: 20,
    memory: 512,
  },
  "roll-back": {
    input: z.object({ deployment: deploymentInput, reason: z.string().nullable(), error: caught.nullable() }),
    output: z.object({ done: z.boolean() }),
    uses: ["table:read", "table:write", "apps:read", "apps:deploy", "apps:watch", "apps:switch"],
    timeoutSeconds: 60,
    memory: 512,
  },
  "fail-build": {
    input: z.object({ deployment: deploymentInput, error: caught }),
    output: z.object({}),
    uses: ["table:read", "table:write", "build-values:read", "logs:read", "releases:stop"],
    timeoutSeconds: 20,
    memory: 512,
  },
} as const satisfies Record<string, StepDefinition>;

export type StepId = keyof typeof steps;

/** Lambdas behind events and schedules: `lambdas/pipeline/<id>.ts`. */
export const listeners = {
  /** "Object Created" events of the archives bucket. */
  "archive-uploaded": {
    uses: ["table:read", "deployments:resume"],
    timeoutSeconds: 20,
    memory: 512,
  },
  /** "Object Created" events of the files bucket. */
  "file-uploaded": {
    uses: ["table:read", "files:follow", "files:look", "files:remove"],
    timeoutSeconds: 30,
    memory: 512,
  },
  /** Executions whose status becomes FAILED, TIMED_OUT or ABORTED. */
  "execution-ended": {
    uses: ["table:read", "table:write", "apps:read", "apps:deploy", "apps:watch", "apps:switch", "releases:stop"],
    timeoutSeconds: 60,
    memory: 512,
  },
  /** Every minute: checks that each held lock has a running execution. */
  "reconcile-locks": {
    uses: [
      "table:read",
      "table:write",
      "deployments:start",
      "removals:start",
      "apps:read",
      "apps:deploy",
      "apps:watch",
      "apps:switch",
      "releases:stop",
    ],
    timeoutSeconds: 120,
    memory: 512,
  },
} as const satisfies Record<string, { uses: readonly Capability[]; timeoutSeconds: number; memory: number }>;

export type ListenerId = keyof typeof listeners;

/** Lambdas that a running image build invokes: `lambdas/pipeline/<id>.ts`. */
export const imageBuildServices = {
  /** Grants an image build access to its own inputs and its project's repository, and to nothing else. */
  "grant-build-access": {
    input: z.object({
      /** The CodeBuild id, which only the build itself knows: the project's name and a random UUID. */
      imageBuildId: z.string().regex(/^[\w-]{2,255}:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    }),
    /** Presigned addresses of this build's files and a password for ECR; all values are secret. */
    output: z.object({ archive: z.url(), recipe: z.url(), registryPassword: z.string() }),
    uses: ["image-builds:grant", "images:expire", "table:read", "apps:read", "apps:watch"],
    timeoutSeconds: 20,
    memory: 512,
  },
} as const satisfies Record<string, StepDefinition>;

/** The input of an execution that removes what belonged to a deleted project or database. */
export const removalInput = z.object({
  kind: z.enum(["project", "database"]),
  /** The project's or the database's id. */
  id: z.string(),
  organizationId: z.string(),
  /** The build that ran when its project was deleted. */
  buildId: z.string().nullable(),
  /** How long functions that began before the deletion may still run. */
  settleSeconds: z.int(),
  /** Whether they have ended, and everything is being removed for the second time. */
  settled: z.boolean(),
});
export type RemovalInput = z.infer<typeof removalInput>;

/** The Lambda of the removal's state machine: `lambdas/pipeline/<id>.ts`. */
export const removalSteps = {
  remove: {
    input: z.object({
      removal: removalInput,
      stage: z.enum(["deployment", "app", "archives", "images", "output", "builds", "rows", "tables", "finish"]),
    }),
    /** Whether the stage has removed everything; only `builds` can need another invocation. */
    output: z.object({ done: z.boolean() }),
    uses: [
      "table:read",
      "table:write",
      "deployments:stop",
      "apps:remove",
      "task-definitions:remove",
      "archives:remove",
      "images:remove",
      "output:remove",
      "databases:run",
    ],
    timeoutSeconds: 300,
    memory: 512,
  },
} as const satisfies Record<string, StepDefinition>;

/** The capabilities of the operator Lambda (docs/api.md, Operator commands). */
export const operatorUses = [
  "table:read",
  "table:write",
  "table:scan",
  "console:locate",
  "domains:route",
] as const satisfies readonly Capability[];
