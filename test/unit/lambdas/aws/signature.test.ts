import { SignatureV4 } from "@smithy/signature-v4";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Sha256 } from "../../../../lambdas/aws/sha256.ts";
import { signedHeaders } from "../../../../lambdas/aws/signature.ts";

const kept = process.env.AWS_REGION;
beforeAll(() => {
  process.env.AWS_REGION = "eu-central-1";
});
afterAll(() => {
  if (kept === undefined) delete process.env.AWS_REGION;
  else process.env.AWS_REGION = kept;
});

const own = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "se/cr+et=" };
const session = { accessKeyId: "ASIAEXAMPLE", secretAccessKey: "another", sessionToken: "to/k+en==" };
const evening = new Date("2026-11-20T23:59:59.999Z");
const morning = new Date("2026-11-21T00:00:00.000Z");

test.each([
  ["of DynamoDB", "dynamodb", "https://dynamodb.eu-central-1.amazonaws.com", own, evening],
  ["of the next day", "dynamodb", "https://dynamodb.eu-central-1.amazonaws.com", own, morning],
  ["with other credentials", "dynamodb", "https://dynamodb.eu-central-1.amazonaws.com", session, morning],
  ["of another service", "ecr", "https://api.ecr.eu-central-1.amazonaws.com", own, morning],
  ["at a port", "sts", "http://127.0.0.1:4566", session, evening],
])("a POST %s is signed as the AWS signer signs it", async (_, service, address, credentials, now) => {
  const url = new URL(address);
  const body = JSON.stringify({ RequestItems: { slipway: "ü" } });
  const headers = { "x-amz-target": "DynamoDB_20120810.BatchGetItem", "content-type": "application/x-amz-json-1.0" };
  const signer = new SignatureV4({
    service,
    region: "eu-central-1",
    credentials,
    sha256: Sha256,
    uriEscapePath: true,
    applyChecksum: false,
  });
  const expected = await signer.sign(
    {
      method: "POST",
      protocol: url.protocol,
      hostname: url.hostname,
      path: "/",
      query: {},
      headers: { host: url.host, ...headers },
      body,
    },
    { signingDate: now },
  );
  expect(signedHeaders(service, url, headers, body, credentials, now)).toEqual(expected.headers);
});
