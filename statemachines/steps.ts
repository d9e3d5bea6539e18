import * as z from "zod";
import type { Capability } from "../api/capabilities.ts";

/** The input of an execution, which is named after its build. Everything else stands in the build's row. */
export const deploymentInput = z.object({
  organizationId: z.string(),
  projectId: z.string(),
  buildId: z.string(),
  source: z.enum(["upload", "copy"]),
});
export type DeploymentInput = z.infer<typeof deploymentInput>;

const archive = z.object({ version: z.string(), size: z.int() });
const deployed = z.object({
  serviceDeploymentArn: z.string(),
  since: z.iso.datetime({ precision: 3 }),
  /** The app's address; null while the gateway has not given it one. */
  url: z.string().nullable(),
});

/** What `finish` writes, known since the health check read the build: so it is one call, and can be repeated. */
const ready = z.object({
  warning: z.string().nullable(),
  /** The log stream of the version that serves now. */
  appLog: z.string().nullable(),
  /** The newest successful builds before this one. */
  successes: z.array(z.string()),
});

/** What a caught error looks like in ASL. */
const caught = z.object({ Error: z.string(), Cause: z.string().default("") });

export interface StepDefinition {
  input: z.ZodObject;
  output: z.ZodType;
  uses: readonly Capability[];
  /** The longest one invocation may take. */
  timeoutSeconds: number;
  /** MiB; more memory is also more processor. */
  memory: number;
}

/** Every Lambda behind the pipeline, by file name: `lambdas/pipeline/<id>.ts`. */
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
    }),
    uses: ["table:read", "table:write", "archives:read", "artifacts:write"],
    timeoutSeconds: 300,
    memory: 1769,
  },
  deploy: {
    input: z.object({
      deployment: deploymentInput,
      image: z.object({ digest: z.string(), log: z.string(), warning: z.string().nullable(), port: z.int() }),
    }),
    output: z.union([z.object({ waiting: z.literal(true) }), deployed.extend({ waiting: z.literal(false) })]),
    uses: ["table:read", "table:write", "apps:read", "apps:deploy", "apps:watch"],
    timeoutSeconds: 60,
    memory: 512,
  },
  "check-health": {
    input: z.object({ deployment: deploymentInput, deployed }),
    output: z.object({
      verdict: z.enum(["waiting", "healthy", "unhealthy"]),
      /** For the user: why the new version is not well. */
      reason: z.string().nullable(),
      /** Given with `healthy` only. */
      ready: ready.nullable(),
    }),
    uses: ["table:read", "table:write", "apps:read", "apps:switch", "logs:read"],
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
    uses: ["table:read", "table:write", "apps:read", "apps:deploy", "apps:switch"],
    timeoutSeconds: 60,
    memory: 512,
  },
  "fail-build": {
    input: z.object({ deployment: deploymentInput, error: caught }),
    output: z.object({}),
    uses: ["table:read", "table:write", "logs:read"],
    timeoutSeconds: 20,
    memory: 512,
  },
} as const satisfies Record<string, StepDefinition>;

export type StepId = keyof typeof steps;

/** Lambdas behind events and schedules: `lambdas/pipeline/<id>.ts`. */
export const listeners = {
  /** S3's "Object Created" of the archives bucket. */
  "archive-uploaded": {
    uses: ["table:read", "deployments:resume"],
    timeoutSeconds: 20,
    memory: 512,
  },
  /** S3's "Object Created" of the files bucket. */
  "file-uploaded": {
    uses: ["table:read", "files:follow", "files:manage"],
    timeoutSeconds: 30,
    memory: 512,
  },
  /** Step Functions' status change to FAILED, TIMED_OUT or ABORTED. */
  "execution-ended": {
    uses: ["table:read", "table:write", "apps:read", "apps:deploy", "apps:switch"],
    timeoutSeconds: 60,
    memory: 512,
  },
  /** Every minute: makes sure that each held lock has a living execution. */
  "reconcile-locks": {
    uses: ["table:read", "table:write", "deployments:start", "apps:read", "apps:deploy", "apps:switch"],
    timeoutSeconds: 120,
    memory: 512,
  },
} as const satisfies Record<string, { uses: readonly Capability[]; timeoutSeconds: number; memory: number }>;

export type ListenerId = keyof typeof listeners;

/** Lambdas that a running image build invokes: `lambdas/pipeline/<id>.ts`. */
export const imageBuildServices = {
  /** Gives an image build its own inputs and its own project's repository: all that it may reach. */
  "grant-build-access": {
    input: z.object({
      /** CodeBuild's id, which only the build itself knows: the project's name and a random UUID. */
      imageBuildId: z.string().regex(/^[\w-]{2,255}:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    }),
    /** Presigned addresses of exactly this build's files, and a password for the registry; all of it is secret. */
    output: z.object({ archive: z.url(), recipe: z.url(), registryPassword: z.string() }),
    uses: ["image-builds:grant"],
    timeoutSeconds: 20,
    memory: 512,
  },
} as const satisfies Record<string, StepDefinition>;

/** What the operator Lambda (docs/api.md, Operator commands) may touch. */
export const operatorUses = ["table:read", "table:write"] as const satisfies readonly Capability[];
