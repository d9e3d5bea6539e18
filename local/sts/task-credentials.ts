import { randomBytes, timingSafeEqual } from "node:crypto";
import { AwsError, jsonError, type RawService } from "../aws/service.ts";
import type { CredentialStore } from "./store.ts";

const path = "/task-credentials/";
/** Where the agent of ECS answers, so that AWS SDKs accept a relative address. */
const agentEndpoint = "http://169.254.170.2";
const sessionSeconds = 3600;

export interface TaskCredentials {
  /**
   * The variables of a task's environment with which AWS SDKs find the credentials of its role. `endpoint`: where the task
   * reaches the service below, if not at the endpoint of `createTaskCredentials`.
   */
  variables(taskId: string, endpoint?: string): Record<string, string>;
  /** The endpoint of these variables, like that of the container agent on AWS. */
  service: RawService;
}

/** Credentials of the one role that all apps share, with the task's id as the name of the session (docs/api.md, Sessions). */
export function createTaskCredentials(options: {
  store: CredentialStore;
  roleArn: string;
  region: string;
  /** The STS endpoint, which also serves these credentials; known after its start. */
  endpoint(): string;
}): TaskCredentials {
  const tokens = new Map<string, Buffer>();
  return {
    variables(taskId, endpoint = options.endpoint()) {
      const token = randomBytes(32);
      tokens.set(taskId, token);
      return {
        ...(endpoint === agentEndpoint
          ? { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: `${path}${taskId}` }
          : { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${endpoint}${path}${taskId}` }),
        AWS_CONTAINER_AUTHORIZATION_TOKEN: token.toString("base64url"),
        AWS_REGION: options.region,
        AWS_ENDPOINT_URL_STS: endpoint,
      };
    },
    service: async (request) => {
      if (!request.path.startsWith(path)) return undefined;
      const taskId = request.path.slice(path.length);
      const expected = tokens.get(taskId);
      const given = Buffer.from(request.headers.authorization ?? "", "base64url");
      if (!expected || given.length !== expected.length || !timingSafeEqual(given, expected)) {
        return jsonError(new AwsError("AccessDeniedException", "This is not the task's token", 403));
      }
      const issued = options.store.issue({
        roleArn: options.roleArn,
        sessionName: taskId,
        durationSeconds: sessionSeconds,
      });
      const body = {
        AccessKeyId: issued.accessKeyId,
        SecretAccessKey: issued.secretAccessKey,
        Token: issued.sessionToken,
        Expiration: issued.expiration,
        RoleArn: options.roleArn,
      };
      return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    },
  };
}
