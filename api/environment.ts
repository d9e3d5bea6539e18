import type { Capability } from "./capabilities.ts";

/** The environment variables a Lambda gets, by capability; `lib/` sets exactly these and `lambdas/http` reads them. */
export const capabilityEnvironment = {
  "table:read": ["TABLE_NAME"],
  "table:write": ["TABLE_NAME"],
  "keys:record-use": ["TABLE_NAME"],
  "live-build:cache": ["TABLE_NAME"],
  "files:follow": ["TABLE_NAME"],
  "archives:upload": ["ARCHIVES_BUCKET", "ARCHIVES_SIGNER_ROLE"],
  "archives:read": ["ARCHIVES_BUCKET"],
  "archives:copy": ["ARCHIVES_BUCKET"],
  "artifacts:write": ["ARTIFACTS_BUCKET"],
  "deployments:start": ["STATE_MACHINE_ARN"],
  "deployments:resume": [],
  "apps:read": ["CLUSTER_NAME"],
  "apps:identify": ["CLUSTER_NAME"],
  "apps:watch": ["CLUSTER_NAME"],
  "apps:deploy": [
    "CLUSTER_NAME",
    "APP_TASK_ROLE",
    "APP_EXECUTION_ROLE",
    "APP_SUBNETS",
    "APP_SECURITY_GROUPS",
    "APP_GATEWAY",
    "APP_LOG_GROUP",
    "IMAGE_REPOSITORY",
    "SERVICE_HOST",
  ],
  "apps:run": ["CLUSTER_NAME", "APP_SUBNETS", "APP_SECURITY_GROUPS"],
  "build-values:read": ["ARTIFACTS_BUCKET"],
  "apps:switch": ["CLUSTER_NAME", "HEALTH_TIMEOUT_SECONDS", "PROBE_HEADER_NAME", "PROBE_HEADER_VALUE"],
  "logs:read": ["APP_LOG_GROUP", "BUILD_LOG_GROUP"],
  "app-output:read": ["APP_LOG_GROUP", "OUTPUT_SETTLE_MS"],
  "identity:prove": ["APP_TASK_ROLE", "SERVICE_HOST"],
  "console:locate": ["CONSOLE_ORIGIN"],
  "domains:route": ["CUSTOM_DOMAINS"],
  "files:sign": ["FILES_BUCKET", "FILES_SIGNER_ROLE"],
  "files:manage": ["FILES_BUCKET"],
  "databases:run": ["DATABASE_ARN", "DATABASE_SECRET_ARN", "DATABASE_WAIT_SECONDS"],
  "image-builds:grant": ["IMAGE_BUILD_PROJECT", "IMAGE_BUILD_ROLE", "IMAGE_KEY", "IMAGE_REPOSITORIES", "BASE_IMAGES"],
} as const satisfies Record<Capability, readonly string[]>;

export type EnvironmentName = (typeof capabilityEnvironment)[Capability][number];
