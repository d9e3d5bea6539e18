import { ECRClient, GetAuthorizationTokenCommand } from "@aws-sdk/client-ecr";
import type { SessionCredentials } from "./assume-role.ts";
import { clientDefaults } from "./clients.ts";

/** The password of ECR's user `AWS`, with the permissions of the session whose credentials are given. */
export async function registryPassword(credentials: SessionCredentials): Promise<string> {
  const ecr = new ECRClient({ ...clientDefaults(), credentials });
  try {
    const { authorizationData = [] } = await ecr.send(new GetAuthorizationTokenCommand({}));
    const text = Buffer.from(authorizationData[0]?.authorizationToken ?? "", "base64").toString("utf8");
    if (!text.startsWith("AWS:")) throw new Error("ECR gave no password for the user AWS");
    return text.slice("AWS:".length);
  } finally {
    ecr.destroy();
  }
}
