import { createHash, createHmac } from "node:crypto";
import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { SignatureV4 } from "@smithy/signature-v4";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type Guarded, startGuarded } from "../../api/faults/guarded-service.ts";
import { address, deploy, nodeApp } from "../../harness/app.ts";
import type { Answer, Running } from "../../harness/service.ts";

/** An app that requests its role's credentials as an AWS SDK in a container does, and returns them to this test. */
const app = nodeApp(`
  const { AWS_CONTAINER_CREDENTIALS_FULL_URI: uri, AWS_CONTAINER_AUTHORIZATION_TOKEN: authorization } = process.env;
  fetch(uri, { headers: { authorization } }).then((answer) => answer.json()).then((role) => {
    res.end(JSON.stringify({ ...role, sts: process.env.AWS_ENDPOINT_URL_STS, service: process.env.SLIPWAY_URL, uri }));
  }, (error) => res.end(String(error)));
`);
const seen = z.object({
  AccessKeyId: z.string(),
  SecretAccessKey: z.string(),
  Token: z.string(),
  sts: z.string(),
  service: z.string(),
  uri: z.string(),
});
type Role = z.infer<typeof seen>;

class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined
        ? createHash("sha256")
        : createHmac("sha256", typeof secret === "string" ? secret : Buffer.from(secret as Uint8Array));
  }
  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

interface Proof {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** A signed GetCallerIdentity request, as the SDK makes it; `change` is applied before it is signed. */
async function proofOf(
  role: Role,
  change: { headers?: Record<string, string>; body?: string; at?: Date } = {},
): Promise<Proof> {
  const url = new URL(role.sts);
  const body = change.body ?? "Action=GetCallerIdentity&Version=2011-06-15";
  const signer = new SignatureV4({
    service: "sts",
    region: "us-east-1",
    credentials: { accessKeyId: role.AccessKeyId, secretAccessKey: role.SecretAccessKey, sessionToken: role.Token },
    sha256: Sha256,
  });
  const signed = await signer.sign(
    {
      method: "POST",
      protocol: url.protocol,
      hostname: url.hostname,
      port: Number(url.port),
      path: "/",
      query: {},
      headers: {
        host: url.host,
        "content-type": "application/x-www-form-urlencoded; charset=utf-8",
        "x-slipway-host": new URL(role.service).host,
        ...change.headers,
      },
      body,
    },
    { signingDate: change.at ?? new Date() },
  );
  return { url: `${url.origin}/`, headers: signed.headers, body };
}

describe("a deployed app proves its identity", () => {
  let guarded: Guarded;
  let running: Running;
  let role: Role;
  beforeAll(async () => {
    guarded = await startGuarded();
    running = guarded.running;
    expect(await deploy(running, app)).toMatchObject({ status: "ready", error: null });
    role = seen.parse(await (await fetch(await address(running))).json());
  }, 60_000);
  afterAll(() => guarded.stop());

  const exchange = (proof: unknown): Promise<Answer> =>
    running.call("POST", "/sessions", { bearer: null, body: { proof } });

  test("and gets a session of its organization that is valid for ten minutes and has the permissions of a key", async () => {
    const proof = await proofOf(role);
    const before = Date.now();
    const { status, body } = await exchange(proof);
    expect(status).toBe(201);
    expect(body.session.organizationId).toBe(running.seed.organizationId);
    const expiresAt = Date.parse(body.session.expiresAt);
    // The time may be stored in whole seconds.
    expect(expiresAt).toBeGreaterThan(before + 599_000);
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + 600_000);
    const bearer = body.session.token;
    expect((await running.call("GET", "/ping", { bearer })).body).toBe("pong");
    const { body: list } = await running.call("GET", "/organizations", { bearer });
    expect(list.organizations).toMatchObject([{ id: running.seed.organizationId, role: null }]);
    expect((await running.call("GET", `${running.project}/builds`, { bearer })).status).toBe(200);
    const { body: keys } = await running.call("GET", `${running.project}/credentials`, { bearer });
    expect(keys.credentials).toEqual([]);
  });

  test("with credentials that other clients cannot fetch, and that allow nothing except the proof", async () => {
    expect((await fetch(role.uri)).status).toBe(403);
    expect((await fetch(role.uri, { headers: { authorization: "AAAA" } })).status).toBe(403);
    const assume =
      "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A000000000000%3Arole%2Fslipway-archives-signer&RoleSessionName=x1";
    const { url, headers, body } = await proofOf(role, { body: assume });
    const { host: _, ...rest } = headers;
    expect((await fetch(url, { method: "POST", headers: rest, body })).status).toBe(403);
  });

  /** Expires all sessions; DynamoDB may take days to delete expired rows. */
  async function expireSessions(): Promise<void> {
    const credentials = { accessKeyId: "local", secretAccessKey: "local" };
    const client = new DynamoDBClient({ endpoint: guarded.database, region: "us-east-1", credentials });
    for (const { pk, sk } of (await guarded.direct.rows()).filter((row) => row.sk === "SES")) {
      await client.send(
        new UpdateItemCommand({
          TableName: "slipway",
          Key: marshall({ pk, sk }),
          UpdateExpression: "SET expiresAt = :now",
          ExpressionAttributeValues: marshall({ ":now": new Date().toISOString() }),
        }),
      );
    }
    client.destroy();
  }

  const hour = 3_600_000;
  const forged: [string, (role: Role) => Promise<unknown>][] = [
    ["made for another host", (own) => proofOf(own, { headers: { "x-slipway-host": "slipway.example" } })],
    [
      "made for another host and relabelled",
      async (own) => {
        const proof = await proofOf(own, { headers: { "x-slipway-host": "slipway.example" } });
        return { ...proof, headers: { ...proof.headers, "x-slipway-host": new URL(own.service).host } };
      },
    ],
    [
      "whose host is not signed",
      async (own) => {
        const { "x-slipway-host": host, ...bare } = (await proofOf({ ...own, service: own.service })).headers;
        const authorization = (bare.authorization ?? "").replace(";x-slipway-host", "");
        return { ...(await proofOf(own)), headers: { ...bare, authorization, "x-slipway-host": host } };
      },
    ],
    ["signed with another secret", (own) => proofOf({ ...own, SecretAccessKey: `${own.SecretAccessKey}x` })],
    ["with another session's token", (own) => proofOf({ ...own, Token: `${own.Token}x` })],
    ["that is an hour old", (own) => proofOf(own, { at: new Date(Date.now() - hour) })],
    ["from an hour ahead", (own) => proofOf(own, { at: new Date(Date.now() + hour) })],
    ["with one more signed header", (own) => proofOf(own, { headers: { "x-amz-more": "1" } })],
    ["of another action", (own) => proofOf(own, { body: "Action=GetSessionToken&Version=2011-06-15" })],
    ["of more than the action", (own) => proofOf(own, { body: "Action=GetCallerIdentity&Version=2011-06-15&x=1" })],
    ["sent to another address", async (own) => ({ ...(await proofOf(own)), url: "http://127.0.0.1:9/" })],
    [
      "sent to a path or with a query",
      async (own) => ({ ...(await proofOf(own)), url: `${own.sts}/?Action=GetCallerIdentity` }),
    ],
    [
      "with a header twice",
      async (own) => {
        const proof = await proofOf(own);
        return { ...proof, headers: { ...proof.headers, Authorization: proof.headers.authorization } };
      },
    ],
    [
      "with a line break in a header",
      async (own) => {
        const proof = await proofOf(own);
        return { ...proof, headers: { ...proof.headers, "x-amz-date": `${proof.headers["x-amz-date"]}\r\nx: y` } };
      },
    ],
    [
      "with a header that cannot be sent",
      async (own) => {
        const proof = await proofOf(own);
        return { ...proof, headers: { ...proof.headers, "x-amz-security-token": "☃" } };
      },
    ],
    ["without headers", async (own) => ({ ...(await proofOf(own)), headers: {} })],
  ];
  test.each(forged)("not with a proof %s: 401", async (_, make) => {
    const refused = await exchange(await make(role));
    expect(refused).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    expect(refused.body.message).toBe("A valid credential is required.");
  });

  test("an additional unsigned header is ignored and is not sent to STS", async () => {
    const proof = await proofOf(role);
    expect((await exchange({ ...proof, headers: { ...proof.headers, "x-more": "1" } })).status).toBe(201);
  });

  test("a proof with the service's own key is refused: 401", async () => {
    const own = {
      ...role,
      AccessKeyId: process.env.AWS_ACCESS_KEY_ID ?? "",
      SecretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? "",
    };
    const { "x-amz-security-token": _, ...headers } = (await proofOf({ ...own, Token: "" })).headers;
    expect((await exchange({ ...(await proofOf({ ...own, Token: "" })), headers })).status).toBe(401);
  });

  test("a malformed proof is answered with 400 or 401, never with 500", async () => {
    for (const proof of [{}, [], "x", { url: 1, headers: {}, body: "" }, { url: "::", headers: {}, body: "" }]) {
      expect([400, 401]).toContain((await exchange(proof)).status);
    }
  });

  test("a session of a key stays valid after the key is deleted, and expires", async () => {
    const made = await running.call("POST", `${running.project}/credentials`);
    const { id, access, secret } = made.body.credential;
    const bearer = `${access}:${secret}`;
    const { body } = await running.call("POST", "/sessions", { bearer });
    expect((await running.call("DELETE", `${running.project}/credentials/${id}`, { bearer })).status).toBe(200);
    expect((await running.call("GET", "/ping", { bearer })).status).toBe(401);
    expect((await running.call("POST", "/sessions", { bearer })).status).toBe(401);
    const session = body.session.token;
    expect((await running.call("GET", "/ping", { bearer: session })).status).toBe(200);
    expect((await running.call("POST", "/sessions", { bearer: session })).status).toBe(401);
    const written = await running.call("POST", `${running.project}/environments`, {
      bearer: session,
      body: { name: "BY_SESSION", value: "" },
    });
    expect(written.status).toBe(201);
    await expireSessions();
    expect((await running.call("GET", "/ping", { bearer: session })).status).toBe(401);
    const late = await running.call("POST", `${running.project}/environments`, {
      bearer: session,
      body: { name: "TOO_LATE", value: "" },
    });
    expect(late.status).toBe(401);
  });

  test("the proof of a stopped task is refused", async () => {
    const proof = await proofOf(role);
    expect((await exchange(proof)).status).toBe(201);
    expect(await deploy(running, nodeApp("res.end('another')"))).toMatchObject({ status: "ready" });
    await expect
      .poll(async () => (await exchange(await proofOf(role))).status, { timeout: 40_000, interval: 300 })
      .toBe(401);
    expect((await exchange(proof)).status).toBe(401);
  });
});
