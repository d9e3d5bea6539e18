import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bulkPresigner } from "../../../lambdas/kit/tools/bulk-presigner.ts";
import { presign } from "../../../lambdas/kit/tools/signer.ts";

const credentials = { accessKeyId: "ASIAEXAMPLE", secretAccessKey: "se/cr+et=", sessionToken: "to/k+en==" };
const shared = { bucket: "files", credentials, validSeconds: 3600, now: new Date("2026-11-20T01:02:03.456Z") };

describe.each([
  ["S3", undefined],
  ["a local endpoint", "http://127.0.0.1:4566"],
])("addresses at %s", (_, endpoint) => {
  const kept = process.env.AWS_ENDPOINT_URL_S3;
  const set = (value: string | undefined) => {
    if (value === undefined) delete process.env.AWS_ENDPOINT_URL_S3;
    else process.env.AWS_ENDPOINT_URL_S3 = value;
  };
  beforeAll(() => set(endpoint));
  afterAll(() => set(kept));

  test.each([
    { method: "PUT" as const, key: "org_1/sto_2/fil_3", contentType: "text/plain; charset=utf-8" },
    { method: "PUT" as const, key: "a b/ü~-._", contentType: "  text/x   y/é " },
    { method: "GET" as const, key: "org_1/sto_2/fil_3" },
    { method: "GET" as const, key: "k", query: { "response-content-disposition": "attachment; filename=fil_3 (1)" } },
  ])("are signed as the AWS signer signs them: $method $key", async (asked) => {
    const expected = new URL(await presign({ ...shared, ...asked }));
    const given = new URL(bulkPresigner(shared)(asked));
    expect([given.origin, decodeURIComponent(given.pathname)]).toEqual([
      expected.origin,
      decodeURIComponent(expected.pathname),
    ]);
    expect([...given.searchParams].sort()).toEqual([...expected.searchParams].sort());
  });
});
