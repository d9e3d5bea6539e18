import { createHash, createHmac } from "node:crypto";
import * as z from "zod";

const page = z.object({
  Quotas: z.array(z.object({ QuotaName: z.string(), Value: z.number() })),
  NextToken: z.string().nullish(),
});

const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const keyed = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

export interface Signing {
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  now: Date;
}

/** The headers of a JSON call to Service Quotas under Signature V4. The SDK's own client for this one call would be 3 MB to install. */
export function signedHeaders(
  target: string,
  body: string,
  { region, credentials, now }: Signing,
): Record<string, string> {
  const at = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const scope = `${at.slice(0, 8)}/${region}/servicequotas/aws4_request`;
  const headers: Record<string, string> = {
    "content-type": "application/x-amz-json-1.1",
    host: `servicequotas.${region}.amazonaws.com`,
    "x-amz-date": at,
    ...(credentials.sessionToken && { "x-amz-security-token": credentials.sessionToken }),
    "x-amz-target": target,
  };
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join("");
  const canonical = ["POST", "/", "", lines, names.join(";"), hash(body)].join("\n");
  const parts = [...scope.split("/")];
  const key = parts.reduce<string | Buffer>(keyed, `AWS4${credentials.secretAccessKey}`);
  const signature = keyed(key, ["AWS4-HMAC-SHA256", at, scope, hash(canonical)].join("\n")).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return { ...headers, authorization };
}

/** How many ARM small builds the account may run at once; `undefined` when Service Quotas does not say. */
export async function armBuildsAtOnce(signing: Signing): Promise<number | undefined> {
  let token: string | null | undefined;
  do {
    const body = JSON.stringify({ ServiceCode: "codebuild", MaxResults: 100, ...(token && { NextToken: token }) });
    const headers = signedHeaders("ServiceQuotasV20190624.ListServiceQuotas", body, signing);
    const response = await fetch(`https://${headers.host}/`, { method: "POST", headers, body });
    if (!response.ok) return undefined;
    const { Quotas, NextToken } = page.parse(await response.json());
    const quota = Quotas.find(({ QuotaName }) => /ARM.{0,3}Small/i.test(QuotaName));
    if (quota) return quota.Value;
    token = NextToken;
  } while (token);
  return undefined;
}
