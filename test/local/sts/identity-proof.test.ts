import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { identityProver, stsOrigins } from "../../../lambdas/aws/identity.ts";
import type { IdentityProof } from "../../../lambdas/aws/identity-proof.ts";
import { isTransient } from "../../../lambdas/aws/transient.ts";
import type { AwsServer } from "../../../local/aws/http-server.ts";
import type { RawResponse } from "../../../local/aws/service.ts";
import { startStsServer, stsService } from "../../../local/sts/server.ts";
import { type CredentialStore, openCredentials } from "../../../local/sts/store.ts";
import { signIdentityProof } from "../../../sdk/identity-proof.ts";

const dir = mkdtempSync(join(tmpdir(), "identity-"));
const host = "api.slipway.example";
const appRole = "arn:aws:iam::000000000000:role/app-task";
const taskId = "0123456789abcdef0123456789abcdef";
/** A new function instance each time: an instance keeps the addresses of STS. */
const prover = () => identityProver({ APP_TASK_ROLE: appRole, SERVICE_HOST: host });
let credentials: CredentialStore;
let server: AwsServer;
/** Answers that replace STS's own, the number of its requests, and the last one's headers. */
let faults: RawResponse[] = [];
let calls = 0;
let sent: IncomingHttpHeaders = {};

beforeAll(async () => {
  credentials = openCredentials({ dir });
  const sts = stsService({ credentials });
  server = await startStsServer([
    async (request) => {
      calls += 1;
      sent = request.headers;
      return faults.shift() ?? sts(request);
    },
  ]);
});
beforeEach(() => {
  vi.stubEnv("AWS_REGION", "us-east-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", credentials.root.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", credentials.root.secretAccessKey);
  vi.stubEnv("AWS_ENDPOINT_URL_STS", server.endpoint);
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(async () => {
  await server.close();
  rmSync(dir, { recursive: true });
});

const session = (roleArn = appRole, sessionName = taskId) =>
  credentials.issue({ roleArn, sessionName, durationSeconds: 900 });

/** A proof as an app's SDK makes it. */
const proofOf = (keys = session(), serviceHost = host, sts = server.endpoint): Promise<IdentityProof> =>
  signIdentityProof(keys, serviceHost, { AWS_ENDPOINT_URL_STS: sts });

/** A correctly signed GetCallerIdentity that covers exactly the headers given; others may be added afterwards. */
async function signed(headers: Record<string, string>): Promise<IdentityProof> {
  const url = new URL(server.endpoint);
  const credentials = session();
  const signer = new SignatureV4({
    service: "sts",
    region: "us-east-1",
    credentials,
    sha256: Sha256,
    applyChecksum: false,
  });
  const body = "Action=GetCallerIdentity&Version=2011-06-15";
  const { protocol, hostname } = url;
  const type = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  const request = { method: "POST", protocol, hostname, port: Number(url.port), path: "/", query: {}, body };
  const result = await signer.sign({ ...request, headers: { host: url.host, ...type, ...headers } });
  return { url: `${url.origin}/`, headers: result.headers, body };
}

/** The answer of STS itself to these headers: it accepts more forms of Authorization than the service does. */
async function statusAtSts({ url, headers, body }: IdentityProof): Promise<number> {
  const { host: _, ...sendable } = headers;
  return (await fetch(url, { method: "POST", headers: sendable, body })).status;
}

test("a proof from the SDK identifies its task, and STS gets the headers of the proof with the body's length", async () => {
  const proof = await proofOf();
  const { "x-amz-date": date, authorization } = proof.headers;
  expect(await prover().task(proof)).toBe(taskId);
  expect(sent).toMatchObject({ authorization, "x-amz-date": date, "content-length": String(proof.body.length) });
  expect(Object.keys(sent)).not.toContain("transfer-encoding");
});

test("a proof is for STS of the service's region, or for the global one", async () => {
  vi.stubEnv("AWS_ENDPOINT_URL_STS", undefined);
  vi.stubEnv("AWS_REGION", "eu-central-1");
  expect(await stsOrigins()).toEqual(["https://sts.eu-central-1.amazonaws.com", "https://sts.amazonaws.com"]);
});

test("an app in a container proves itself with the addresses that containers have for STS and the service", async () => {
  const ofContainers = server.endpoint.replace("127.0.0.1", "localhost");
  const proofs = [await proofOf(session(), "host.internal"), await proofOf(session(), host, ofContainers)];
  for (const proof of proofs) expect(await prover().task(proof)).toBeUndefined();
  vi.stubEnv("APP_SERVICE_HOST", "host.internal");
  vi.stubEnv("APP_STS_ORIGIN", ofContainers);
  for (const proof of [...proofs, await proofOf()]) expect(await prover().task(proof)).toBe(taskId);
  expect(await prover().task(await proofOf(session(), "api.another.example"))).toBeUndefined();
});

test("a proof with a valid signature that does not cover our host is refused", async () => {
  const { url, headers, body } = await signed({});
  const unbound = { url, headers: { ...headers, "x-slipway-host": host }, body };
  expect(await statusAtSts(unbound)).toBe(200);
  expect(await prover().task(unbound)).toBeUndefined();
});

test("a proof that is bound to another service is refused", async () => {
  const proof = await proofOf(session(), "api.another.example");
  expect(await statusAtSts(proof)).toBe(200);
  expect(await prover().task(proof)).toBeUndefined();
});

describe("an Authorization header in any other form is refused, even if STS would accept it", () => {
  const all = "SignedHeaders=host;x-amz-date;x-slipway-host";
  test.each<[string, (authorization: string) => string]>([
    ["a part whose name ends as the right one's", (a) => a.replace("SignedHeaders=", `X-${all}, SignedHeaders=`)],
    ["the list inside another part's value", (a) => a.replace("SignedHeaders=", `Foo=${all}, SignedHeaders=`)],
    ["the list twice", (a) => a.replace("SignedHeaders=", `${all}, SignedHeaders=`)],
    ["an unknown part at the end", (a) => `${a}, ${all}`],
    ["an unknown part at the beginning", (a) => a.replace("Credential=", `${all}, Credential=`)],
  ])("%s", async (_, change) => {
    const { url, headers, body } = await signed({});
    const authorization = change(headers.authorization ?? "");
    const unbound = { url, headers: { ...headers, authorization, "x-slipway-host": host }, body };
    expect(await prover().task(unbound)).toBeUndefined();
  });

  test.each<[string, (authorization: string) => string]>([
    ["other spacing", (a) => a.replaceAll(", ", ",")],
    ["another order", (a) => a.replace(/(SignedHeaders=[^,]+), (Signature=.+)$/, "$2, $1")],
    ["a line that goes on", (a) => `${a} `],
    ["upper case in the list", (a) => a.replace("x-slipway-host", "X-Slipway-Host")],
    ["an empty name in the list", (a) => a.replace("x-slipway-host", ";x-slipway-host")],
    ["another algorithm", (a) => a.replace("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256")],
    ["another service's scope", (a) => a.replace("/sts/", "/ecs/")],
  ])("%s", async (_, change) => {
    const { url, headers, body } = await proofOf();
    const before = calls;
    const authorization = change(headers.authorization ?? "");
    expect(authorization).not.toBe(headers.authorization);
    expect(await prover().task({ url, headers: { ...headers, authorization }, body })).toBeUndefined();
    expect(calls).toBe(before);
  });
});

test.each([
  ["of another role", "arn:aws:iam::000000000000:role/archives-signer"],
  ["of a role whose name begins like the apps'", "arn:aws:iam::000000000000:role/app-task-admin"],
])("a proof %s is refused, although its session is named like a task", async (_, roleArn) => {
  const proof = await proofOf(session(roleArn));
  expect(await statusAtSts(proof)).toBe(200);
  expect(await prover().task(proof)).toBeUndefined();
});

test("a proof of the apps' role is refused if its session is no task", async () => {
  expect(await prover().task(await proofOf(session(appRole, "somebody")))).toBeUndefined();
});

const refusal = (status: number, code: string): RawResponse => ({
  status,
  headers: { "content-type": "text/xml" },
  body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>m</Message></Error></ErrorResponse>`,
});

test.each([
  ["throttling", refusal(400, "Throttling")],
  ["a fault", refusal(500, "InternalFailure")],
  ["an answer that is not XML", { status: 503, headers: {}, body: "busy" }],
])("%s of STS is tried again, and then reported as a fault that passes", async (_, fault) => {
  const proof = await proofOf();
  faults = [fault];
  expect(await prover().task(proof)).toBe(taskId);
  faults = Array.from({ length: 9 }, () => fault);
  const error = await prover()
    .task(proof)
    .catch((thrown: unknown) => thrown);
  faults = [];
  expect(isTransient(error)).toBe(true);
});

test.each(["ExpiredToken", "SignatureDoesNotMatch", "InvalidClientTokenId", "AccessDenied"])(
  "%s proves nothing, and is asked once",
  async (code) => {
    faults = [refusal(403, code)];
    const before = calls;
    expect(await prover().task(await proofOf())).toBeUndefined();
    expect(calls - before).toBe(1);
  },
);
