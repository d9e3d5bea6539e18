import { SignatureV4 } from "@smithy/signature-v4";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Presigned, presigner } from "../../../../lambdas/aws/presigner.ts";
import { Sha256 } from "../../../../lambdas/aws/sha256.ts";

const credentials = { accessKeyId: "ASIAEXAMPLE", secretAccessKey: "se/cr+et=", sessionToken: "to/k+en==" };
const shared = { bucket: "files", credentials, validSeconds: 3600, now: new Date("2026-11-20T01:02:03.456Z") };

/** The same address, made by the AWS signer. */
async function signedByAws(endpoint: string | undefined, asked: Presigned): Promise<URL> {
  const path = asked.key.split("/").map(encodeURIComponent).join("/");
  const url = new URL(endpoint ? `${endpoint}/files/${path}` : `https://files.s3.us-east-1.amazonaws.com/${path}`);
  const signer = new SignatureV4({
    service: "s3",
    region: "us-east-1",
    credentials,
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
  const signed = await signer.presign(
    {
      method: asked.method,
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port && { port: Number(url.port) }),
      path: url.pathname,
      query: { ...asked.query },
      headers: {
        host: url.host,
        "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD",
        ...(asked.contentType && { "content-type": asked.contentType }),
      },
    },
    {
      expiresIn: shared.validSeconds,
      signingDate: shared.now,
      signableHeaders: new Set(asked.contentType ? ["host", "content-type"] : ["host"]),
    },
  );
  for (const [name, value] of Object.entries(signed.query ?? {})) url.searchParams.set(name, String(value));
  return url;
}

describe.each([
  ["S3", undefined],
  ["a local endpoint", "http://127.0.0.1:4566"],
])("addresses at %s", (_, endpoint) => {
  const kept = { AWS_ENDPOINT_URL_S3: process.env.AWS_ENDPOINT_URL_S3, AWS_REGION: process.env.AWS_REGION };
  const set = (values: Record<string, string | undefined>) => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  beforeAll(() => set({ AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: "us-east-1" }));
  afterAll(() => set(kept));

  test.each([
    { method: "PUT" as const, key: "org_1/sto_2/fil_3", contentType: "text/plain; charset=utf-8" },
    { method: "PUT" as const, key: "a b/ü~-._", contentType: "  text/x   y/é " },
    { method: "GET" as const, key: "org_1/sto_2/fil_3" },
    { method: "GET" as const, key: "k", query: { "response-content-disposition": "attachment; filename=fil_3 (1)" } },
  ])("are signed as the AWS signer signs them: $method $key", async (asked) => {
    const expected = await signedByAws(endpoint, asked);
    const given = new URL(presigner(shared)(asked));
    expect([given.origin, decodeURIComponent(given.pathname)]).toEqual([
      expected.origin,
      decodeURIComponent(expected.pathname),
    ]);
    expect([...given.searchParams].sort()).toEqual([...expected.searchParams].sort());
  });
});
