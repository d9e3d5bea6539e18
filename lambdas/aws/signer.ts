import { type Credentials, ownRegion, signedPost } from "./signature.ts";

function element(xml: string, name: string): string {
  const value = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  if (value === undefined) throw new Error(`STS answered without ${name}`);
  return value;
}

/**
 * Credentials of a role for one hour. An address dies with the session that signed it, and a Lambda's own session may
 * have minutes left; so each signing assumes its role anew. A session policy leaves of the role only what both allow;
 * an hour is also the most that a role may have of another role.
 */
export async function assumeRole(roleArn: string, sessionPolicy?: object): Promise<Credentials> {
  const url = new URL(process.env.AWS_ENDPOINT_URL_STS ?? `https://sts.${ownRegion()}.amazonaws.com`);
  const body = new URLSearchParams({
    Action: "AssumeRole",
    Version: "2011-06-15",
    RoleArn: roleArn,
    RoleSessionName: "slipway-signer",
    DurationSeconds: "3600",
    ...(sessionPolicy && { Policy: JSON.stringify(sessionPolicy) }),
  }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  const answer = await signedPost("sts", url, headers, body);
  if (answer.status !== 200) {
    throw Object.assign(new Error(`STS refused the signer role with status ${answer.status}`), {
      $fault: answer.status >= 500 ? "server" : "client",
    });
  }
  return {
    accessKeyId: element(answer.body, "AccessKeyId"),
    secretAccessKey: element(answer.body, "SecretAccessKey"),
    sessionToken: element(answer.body, "SessionToken"),
  };
}
