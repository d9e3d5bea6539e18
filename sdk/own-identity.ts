import { createHash, createHmac } from "node:crypto";
import { SlipwayError } from "./errors.ts";

interface TaskCredentials {
  AccessKeyId: string;
  SecretAccessKey: string;
  Token: string;
}

const body = "Action=GetCallerIdentity&Version=2011-06-15";
const algorithm = "AWS4-HMAC-SHA256";
/** A session is renewed this long before it ends. */
const renewSecondsBefore = 60;

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

function noIdentity(message: string, cause?: unknown): SlipwayError {
  return new SlipwayError("no_identity", message, { cause });
}

/** The credentials of the task's own role, from the endpoint that every container of ECS is given. */
async function taskCredentials(environment: NodeJS.ProcessEnv): Promise<TaskCredentials> {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = environment;
  const url = relative ? `http://169.254.170.2${relative}` : full;
  if (!url) throw noIdentity("This process is not an app that Slipway deployed: give createClient a key or a token.");
  const authorization = environment.AWS_CONTAINER_AUTHORIZATION_TOKEN;
  const response = await fetch(url, { ...(authorization && { headers: { authorization } }) });
  if (!response.ok) throw noIdentity(`The task's credentials could not be read: status ${response.status}.`);
  return (await response.json()) as TaskCredentials;
}

/** A GetCallerIdentity request signed with the task's credentials and bound to one service by the header x-slipway-host. */
function signedProof(credentials: TaskCredentials, sts: URL, region: string, serviceHost: string, now: Date) {
  const date = now.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const scope = `${date.slice(0, 8)}/${region}/sts/aws4_request`;
  const headers: Record<string, string> = {
    "content-type": "application/x-www-form-urlencoded; charset=utf-8",
    host: sts.host,
    "x-amz-date": date,
    "x-amz-security-token": credentials.Token,
    "x-slipway-host": serviceHost,
  };
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join("");
  const request = ["POST", "/", "", lines, names.join(";"), sha256(body)].join("\n");
  const text = [algorithm, date, scope, sha256(request)].join("\n");
  const dateKey = hmac(`AWS4${credentials.SecretAccessKey}`, date.slice(0, 8));
  const key = hmac(hmac(hmac(dateKey, region), "sts"), "aws4_request");
  const signature = hmac(key, text).toString("hex");
  headers.authorization = `${algorithm} Credential=${credentials.AccessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return { url: `${sts.origin}/`, headers, body };
}

/** The address of the service that deployed this app. */
export function ownServiceUrl(environment: NodeJS.ProcessEnv): string {
  const url = environment.SLIPWAY_URL;
  if (url) return url;
  throw noIdentity("SLIPWAY_URL is not set: createClient without arguments works inside an app that Slipway deployed.");
}

/**
 * Authorizes the calls of a deployed app with no key at all (SPEC §5 rule 3): proves the task to the service, keeps the
 * session it gets for its ten minutes, and renews it in time. Calls made meanwhile share one renewal.
 */
export function ownIdentity(baseUrl: string, environment: NodeJS.ProcessEnv): () => Promise<string> {
  let session: { authorization: string; renewAt: number } | undefined;
  let renewing: Promise<string> | undefined;

  async function renew(): Promise<string> {
    const region = environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION ?? "us-east-1";
    const sts = new URL(environment.AWS_ENDPOINT_URL_STS ?? `https://sts.${region}.amazonaws.com`);
    const proof = signedProof(await taskCredentials(environment), sts, region, new URL(baseUrl).host, new Date());
    const response = await fetch(`${baseUrl}/sessions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ proof }),
    });
    if (response.status !== 201)
      throw noIdentity(`The service did not accept this app's identity: status ${response.status}.`);
    const answer = (await response.json()) as { session: { token: string; expiresAt: string } };
    const renewAt = Date.parse(answer.session.expiresAt) - renewSecondsBefore * 1000;
    session = { authorization: `Bearer ${answer.session.token}`, renewAt };
    return session.authorization;
  }

  return async () => {
    if (session && Date.now() < session.renewAt) return session.authorization;
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  };
}
