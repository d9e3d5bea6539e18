import { GetCallerIdentityCommand, STSClient, STSServiceException } from "@aws-sdk/client-sts";
import { getEndpointFromInstructions } from "@smithy/core/endpoints";
import { shortCallDefaults } from "./clients.ts";
import { type IdentityProof, provedTask, replayable } from "./identity-proof.ts";
import { isTransient } from "./transient.ts";

export interface IdentityProver {
  /** The id of the app task that made this proof; `undefined` if the proof is invalid. */
  task(proof: IdentityProof): Promise<string | undefined>;
}

/** The STS addresses that a proof may be made for: the one of this region, and outside of tests the global one. */
export async function stsOrigins(): Promise<string[]> {
  const { config } = new STSClient(shortCallDefaults());
  const { url } = await getEndpointFromInstructions({}, GetCallerIdentityCommand, { ...config });
  if (!process.env.AWS_ENDPOINT_URL_STS) return [url.origin, "https://sts.amazonaws.com"];
  const { APP_STS_ORIGIN: ofContainers } = process.env;
  return ofContainers ? [url.origin, ofContainers] : [url.origin];
}

/** Sends GetCallerIdentity with the proof's headers in place of a signature of our own; returns the signer's ARN. */
async function callerArn(endpoint: string, headers: Record<string, string>): Promise<string | undefined> {
  const sts = new STSClient({
    ...shortCallDefaults(),
    endpoint,
    signer: {
      async sign(request) {
        request.headers = headers;
        return request;
      },
    },
  });
  try {
    return (await sts.send(new GetCallerIdentityCommand({}))).Arn;
  } finally {
    sts.destroy();
  }
}

/** Containers of the local service reach it at an address of their own, which is not set on AWS. */
function ownHosts({ SERVICE_HOST: host }: { SERVICE_HOST: string }): string[] {
  const { APP_SERVICE_HOST: ofContainers } = process.env;
  return ofContainers ? [host, ofContainers] : [host];
}

export function identityProver(environment: { APP_TASK_ROLE: string; SERVICE_HOST: string }): IdentityProver {
  let origins: Promise<string[]> | undefined;
  return {
    async task(proof) {
      origins ??= stsOrigins();
      const known = await origins;
      const headers = ownHosts(environment)
        .map((host) => replayable(proof, { host, stsOrigins: known }))
        .find((accepted) => accepted !== undefined);
      if (!headers) return undefined;
      try {
        return provedTask((await callerArn(new URL(proof.url).origin, headers)) ?? "", environment.APP_TASK_ROLE);
      } catch (error) {
        // STS refuses a bad signature with a client error; throttling and server errors do not mean that the proof is invalid.
        if (isTransient(error) || !(error instanceof STSServiceException)) throw error;
        return undefined;
      }
    },
  };
}
