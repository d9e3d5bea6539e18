import { describe, expect, test } from "vitest";
import { provedTask, replayable } from "../../../../lambdas/aws/identity-proof.ts";

const host = "api.example.com";
const origin = "https://sts.us-east-1.amazonaws.com";
const ours = { host, stsOrigins: [origin] };
const signature = "0123456789abcdef".repeat(4);
const signed = "host;x-amz-date;x-slipway-host";
const authorization = `AWS4-HMAC-SHA256 Credential=ASIAABCDEFGHIJKLMNOP/20261122/us-east-1/sts/aws4_request, SignedHeaders=${signed}, Signature=${signature}`;
const good = {
  url: `${origin}/`,
  headers: {
    Authorization: authorization,
    "x-amz-date": "20261122T000000Z",
    "X-Slipway-Host": host,
    other: "x",
  } as Record<string, string>,
  body: "Action=GetCallerIdentity&Version=2011-06-15",
};
const withHeaders = (headers: Record<string, string>) =>
  replayable({ ...good, headers: { ...good.headers, ...headers } }, ours);

describe("a proof", () => {
  test("is replayed with the known headers only", () => {
    const { Authorization: value, "x-amz-date": date } = good.headers;
    const replayed = { authorization: value, "x-amz-date": date, "x-slipway-host": host };
    expect(replayable(good, ours)).toEqual(replayed);
    const own = "sts.us-east-1.amazonaws.com";
    expect(withHeaders({ host: own })).toEqual({ ...replayed, host: own });
    for (const name of ["content-type", "x-amz-content-sha256", "x-amz-security-token"]) {
      expect(withHeaders({ [name]: "a b\t~" })).toEqual({ ...replayed, [name]: "a b\t~" });
    }
  });

  test.each<[string, Partial<typeof good>]>([
    ["another address", { url: "https://sts.example.com/" }],
    ["no address", { url: "sts" }],
    ["another path", { url: `${origin}/x` }],
    ["a query", { url: `${origin}/?Action=AssumeRole` }],
    ["another body", { body: "Action=AssumeRole&Version=2011-06-15" }],
  ])("with %s is refused", (_, change) => {
    expect(replayable({ ...good, ...change }, ours)).toBeUndefined();
  });

  test.each<[string, Record<string, string>]>([
    ["another service's host", { "X-Slipway-Host": "api.example.org" }],
    ["another host of STS", { host: "sts.example.com" }],
    ["a header twice", { "x-slipway-host": host }],
    ["a line end in a header", { other: "x\ny" }],
    ["a character beyond ASCII in a header", { other: "xé" }],
    ["a leading character beyond ASCII", { other: "éx" }],
    ["no signature", { Authorization: "" }],
  ])("with %s is refused", (_, headers) => {
    expect(withHeaders(headers)).toBeUndefined();
  });

  test("without an Authorization is refused", () => {
    const { Authorization: _, ...headers } = good.headers;
    expect(replayable({ ...good, headers }, ours)).toBeUndefined();
  });

  test.each<[part: string, other: string]>([
    ["AWS4", " AWS4"],
    ["SHA256", "SHA512"],
    ["ASIAABCDEFGHIJKLMNOP", "ASIA"],
    ["ASIAABCDEFGHIJKLMNOP", "asiaabcdefghijklmnop"],
    ["20261122", "2"],
    ["20261122", "2026112x"],
    ["us-east-1", ""],
    ["us-east-1", "US"],
    ["us-east-1", "x".repeat(33)],
    ["/sts/", "/s3/"],
    [signed, `${signed};`],
    [signed, "Host;x-amz-date;x-slipway-host"],
    [signed, ""],
    [signed, "host;x-amz-date"],
    [signed, "host;x-slipway-host"],
    [signed, "x-amz-date;x-slipway-host"],
    ["SignedHeaders=", "X-SignedHeaders="],
    [signature, "0"],
    [signature, "Z".repeat(64)],
    [signature, `${signature}0`],
  ])("whose Authorization has not %s but '%s' is refused", (part, other) => {
    expect(withHeaders({ Authorization: authorization.replace(part, other) })).toBeUndefined();
  });
});

describe("the task of a caller", () => {
  const id = "0123456789abcdef".repeat(2);
  const role = "arn:aws:iam::000000000000:role/app-task";
  const caller = `arn:aws:sts::000000000000:assumed-role/app-task/${id}`;

  test.each([
    [caller, role],
    [caller, "arn:aws:iam::000000000000:role/some/path/app-task"],
    [caller.replace("arn:aws:", "arn:aws-cn:"), role.replace("arn:aws:", "arn:aws-cn:")],
  ])("is the session's name: %s with %s", (arn, of) => {
    expect(provedTask(arn, of)).toBe(id);
  });

  test.each([
    [caller.replace("000000000000", "111111111111"), role],
    [caller.replace("app-task", "app-task-admin"), role],
    [caller, `${role}-admin`],
    [caller, `${role}/other`],
    [caller, `${role}/`],
    [`${caller}0`, role],
    [`x${caller}`, role],
    [caller, `x${role}`],
    [caller.slice(0, -1), role],
    [caller.replace("000000000000", "0"), role],
    [caller.replace("assumed-role", "federated-user"), role],
    ["", role],
  ])("is none: %s with %s", (arn, of) => {
    expect(provedTask(arn, of)).toBeUndefined();
  });
});
