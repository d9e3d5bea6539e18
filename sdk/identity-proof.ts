import { partition } from "@aws-sdk/core/client";
import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";

const body = "Action=GetCallerIdentity&Version=2011-06-15";

/** The STS address for this app, in the AWS partition of its region (China, GovCloud). */
function stsAddress(region: string, environment: NodeJS.ProcessEnv): URL {
  return new URL(environment.AWS_ENDPOINT_URL_STS ?? `https://sts.${region}.${partition(region).dnsSuffix}`);
}

/** The credentials of a task's own role. */
export interface TaskCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
}

/**
 * A GetCallerIdentity request signed with the task's own credentials and bound to one service by the signed header
 * x-slipway-host. It is not sent here: the service sends it to STS, which answers with the task's role and id.
 */
export async function signIdentityProof(
  credentials: TaskCredentials,
  serviceHost: string,
  environment: NodeJS.ProcessEnv,
) {
  const region = environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION ?? "us-east-1";
  const sts = stsAddress(region, environment);
  const signer = new SignatureV4({ service: "sts", region, credentials, sha256: Sha256, applyChecksum: false });
  const { headers } = await signer.sign({
    method: "POST",
    protocol: sts.protocol,
    hostname: sts.hostname,
    ...(sts.port && { port: Number(sts.port) }),
    path: "/",
    query: {},
    headers: {
      host: sts.host,
      "content-type": "application/x-www-form-urlencoded; charset=utf-8",
      "x-slipway-host": serviceHost,
    },
    body,
  });
  return { url: `${sts.origin}/`, headers, body };
}
