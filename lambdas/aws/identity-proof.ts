/** A signed STS GetCallerIdentity request as a client sent it (CONTRACT §2). */
export interface IdentityProof {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The signed header by which a proof is bound to one service: replayed to another host it proves nothing. */
const hostHeader = "x-slipway-host";

/** The only request that is replayed, and the only headers that go with it. */
const provedBody = "Action=GetCallerIdentity&Version=2011-06-15";
const replayedHeaders = [
  "authorization",
  "content-type",
  "host",
  "x-amz-content-sha256",
  "x-amz-date",
  "x-amz-security-token",
  hostHeader,
] as const;

/** What an HTTP header can hold and a signature's headers do: anything else was never sent to STS. */
const sendable = /^[\t -~]*$/;

/**
 * The headers to replay, when the proof is one: exactly GetCallerIdentity, to a known STS address, with our host among
 * the headers that its signature covers. STS itself then judges the signature and its age.
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
  const signed = /SignedHeaders=([^,\s]+)/.exec(headers.authorization ?? "")?.[1]?.split(";") ?? [];
  const url = URL.canParse(proof.url) ? new URL(proof.url) : undefined;
  if (!url || !ours.stsOrigins.includes(url.origin) || url.pathname !== "/" || url.search !== "") return undefined;
  if (proof.body !== provedBody || headers[hostHeader] !== ours.host) return undefined;
  if (![hostHeader, "host", "x-amz-date"].every((name) => signed.includes(name))) return undefined;
  if (headers.host !== undefined && headers.host !== url.host) return undefined;
  return Object.fromEntries(
    replayedHeaders.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
}

/** The task that an STS answer names, when it is one of the role that all apps share. */
export function provedTask(xml: string, appRoleArn: string): string | undefined {
  const arn = /<Arn>([^<]+)<\/Arn>/.exec(xml)?.[1] ?? "";
  const [, account, role, task] = /^arn:aws[\w-]*:sts::(\d{12}):assumed-role\/([^/]+)\/([0-9a-f]{32})$/.exec(arn) ?? [];
  const expected = /^arn:aws[\w-]*:iam::(\d{12}):role\/(?:.*\/)?([^/]+)$/.exec(appRoleArn);
  return task && expected && account === expected[1] && role === expected[2] ? task : undefined;
}
