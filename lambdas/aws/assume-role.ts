import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { shortCallDefaults } from "./clients.ts";

/** The credentials of a role's session. */
export interface SessionCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
}

export type AssumeRole = (roleArn: string, sessionPolicy?: object) => Promise<SessionCredentials>;

/**
 * Gives credentials of a role for one hour. A presigned address expires with the session that signed it, and a Lambda's own
 * session may have minutes left, so each request assumes the role again. A session policy narrows the role's permissions;
 * one hour is the longest session that AWS allows when one role assumes another.
 */
export function roleAssumer(): AssumeRole {
  const sts = new STSClient(shortCallDefaults());
  return async (roleArn, sessionPolicy) => {
    const { Credentials: session } = await sts.send(
      new AssumeRoleCommand({
        RoleArn: roleArn,
        RoleSessionName: "slipway-signer",
        DurationSeconds: 3_600,
        ...(sessionPolicy && { Policy: JSON.stringify(sessionPolicy) }),
      }),
    );
    if (!session?.AccessKeyId || !session.SecretAccessKey || !session.SessionToken) {
      throw new Error("STS answered AssumeRole without credentials");
    }
    return {
      accessKeyId: session.AccessKeyId,
      secretAccessKey: session.SecretAccessKey,
      sessionToken: session.SessionToken,
    };
  };
}
