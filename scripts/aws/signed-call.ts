import { createHash, createHmac } from "node:crypto";

const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const keyed = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

/** The account's side of a call: whose credentials, in which region, at what time. */
export interface Signing {
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  now: Date;
}

/** An operation of a service that speaks AWS JSON 1.1: `target` is the `X-Amz-Target`. */
export interface JsonCall {
  service: string;
  target: string;
  /** Where the service answers. */
  url: URL;
  input: object;
}

/** The headers of a call under Signature V4. The SDK's own clients for these few calls would be megabytes to install. */
export function signedHeaders(call: JsonCall, { region, credentials, now }: Signing): Record<string, string> {
  const at = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const scope = `${at.slice(0, 8)}/${region}/${call.service}/aws4_request`;
  const headers: Record<string, string> = {
    "content-type": "application/x-amz-json-1.1",
    host: call.url.host,
    "x-amz-date": at,
    ...(credentials.sessionToken && { "x-amz-security-token": credentials.sessionToken }),
    "x-amz-target": call.target,
  };
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join("");
  const body = hash(JSON.stringify(call.input));
  const canonical = ["POST", "/", "", lines, names.join(";"), body].join("\n");
  const key = scope.split("/").reduce<string | Buffer>(keyed, `AWS4${credentials.secretAccessKey}`);
  const signature = keyed(key, ["AWS4-HMAC-SHA256", at, scope, hash(canonical)].join("\n")).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return { ...headers, authorization };
}

/** Makes the call; the answer's body is read as JSON, `undefined` when it is none. */
export async function signedCall(call: JsonCall, signing: Signing): Promise<{ ok: boolean; body: unknown }> {
  const { host: _, ...headers } = signedHeaders(call, signing);
  const response = await fetch(call.url, { method: "POST", headers, body: JSON.stringify(call.input) });
  const text = await response.text();
  try {
    return { ok: response.ok, body: JSON.parse(text) };
  } catch {
    return { ok: response.ok, body: undefined };
  }
}
