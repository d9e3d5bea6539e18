/** A signed STS GetCallerIdentity request as a client sent it. */
export interface IdentityProof {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The signed header that binds a proof to one service: sent to another service, the proof is refused. */
const hostHeader = "x-slipway-host";

/** The body that the SDK writes for GetCallerIdentity: the signature covers it. */
const provedBody = "Action=GetCallerIdentity&Version=2011-06-15";

/** The only headers that are replayed. */
const replayedHeaders = [
  "authorization",
  "content-type",
  "host",
  "x-amz-content-sha256",
  "x-amz-date",
  "x-amz-security-token",
  hostHeader,
] as const;

/** The characters that a header may hold; Node.js refuses to send others. */
const sendable = /^[\t -~]*$/;

/**
 * Matches a Signature Version 4 Authorization header with each part once, in a fixed order. STS may accept other forms
 * (a prefixed or repeated `SignedHeaders`) and would then verify a different list of headers than this code checks.
 */
const authorizationPattern =
  /^AWS4-HMAC-SHA256 Credential=[A-Z0-9]{16,128}\/\d{8}\/[a-z0-9-]{1,32}\/sts\/aws4_request, SignedHeaders=([a-z0-9-]+(?:;[a-z0-9-]+)*), Signature=[0-9a-f]{64}$/;

/** The headers that the signature covers; empty if the Authorization header does not have exactly the expected form. */
function signedHeadersOf(authorization: string | undefined): readonly string[] {
  return authorizationPattern.exec(authorization ?? "")?.[1]?.split(";") ?? [];
}

/**
 * The headers to replay if the proof is acceptable: exactly GetCallerIdentity, to a known STS address, with our host among
 * the headers that its signature covers. STS then checks the signature and its age. `undefined` for anything else.
 */
export function replayable(
  proof: IdentityProof,
  ours: { host: string; stsOrigins: readonly string[] },
): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(proof.headers)) {
    const lower = name.toLowerCase();
    if (Object.hasOwn(headers, lower) || !sendable.test(value)) return undefined;
    headers[lower] = value;
  }
  const signed = signedHeadersOf(headers.authorization);
  const url = URL.canParse(proof.url) ? new URL(proof.url) : undefined;
  if (!url || !ours.stsOrigins.includes(url.origin) || url.pathname !== "/" || url.search !== "") return undefined;
  if (proof.body !== provedBody || headers[hostHeader] !== ours.host) return undefined;
  if (![hostHeader, "host", "x-amz-date"].every((name) => signed.includes(name))) return undefined;
  if (headers.host !== undefined && headers.host !== url.host) return undefined;
  return Object.fromEntries(
    replayedHeaders.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
}

/** The task that a caller's ARN names, if the caller has the role that all apps share. */
export function provedTask(callerArn: string, appRoleArn: string): string | undefined {
  const caller = /^arn:aws[\w-]*:sts::(\d{12}):assumed-role\/([^/]+)\/([0-9a-f]{32})$/.exec(callerArn);
  const role = /^arn:aws[\w-]*:iam::(\d{12}):role\/(?:.*\/)?([^/]+)$/.exec(appRoleArn);
  return caller && role && caller[1] === role[1] && caller[2] === role[2] ? caller[3] : undefined;
}
