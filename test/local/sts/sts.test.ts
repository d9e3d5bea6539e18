import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { SignatureV4 } from "@smithy/signature-v4";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AwsServer } from "../../../local/aws/http-server.ts";
import { startStsServer, stsService } from "../../../local/sts/server.ts";
import { type CredentialStore, openCredentials } from "../../../local/sts/store.ts";
import { Sha256 } from "./sha256.ts";

const dir = mkdtempSync(join(tmpdir(), "sts-"));
let clock = new Date("2026-11-21T10:00:00Z");
const now = () => clock;
let credentials: CredentialStore;
let server: AwsServer;

beforeAll(async () => {
  credentials = openCredentials({ dir, now });
  server = await startStsServer([stsService({ credentials, now }), async () => ({ status: 418 })]);
});
afterAll(async () => {
  await server.close();
  rmSync(dir, { recursive: true });
});

interface Keys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

function clientWith(keys: Keys): STSClient {
  const systemClockOffset = clock.getTime() - Date.now();
  const { endpoint } = server;
  return new STSClient({ endpoint, region: "us-east-1", credentials: keys, systemClockOffset, maxAttempts: 1 });
}

const task = { roleArn: "arn:aws:iam::000000000000:role/app-task", sessionName: "task-1", durationSeconds: 900 };
const identityForm = "Action=GetCallerIdentity&Version=2011-06-15";

/** The request with which a deployed app proves its identity to a service: it is signed for that service's host. */
async function signedProof(keys: Keys, extra: Record<string, string>, body = identityForm) {
  const { hostname, port } = new URL(server.endpoint);
  const signer = new SignatureV4({
    credentials: keys,
    region: "us-east-1",
    service: "sts",
    sha256: Sha256,
  });
  const headers = {
    host: `${hostname}:${port}`,
    "content-type": "application/x-www-form-urlencoded; charset=utf-8",
    ...extra,
  };
  const unsigned = {
    method: "POST",
    protocol: "http:",
    hostname,
    port: Number(port),
    path: "/",
    query: {},
    headers,
    body,
  };
  return (await signer.sign(unsigned, { signingDate: clock })).headers;
}

function post(headers: Record<string, string>, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(server.endpoint, { method: "POST", headers }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
    });
    outgoing.on("error", reject).end(body);
  });
}

describe("GetCallerIdentity", () => {
  it("returns the role and the session of a task's credentials", async () => {
    const identity = await clientWith(credentials.issue(task)).send(new GetCallerIdentityCommand({}));
    expect(identity.Arn).toBe("arn:aws:sts::000000000000:assumed-role/app-task/task-1");
    expect(identity.Account).toBe("000000000000");
    expect(identity.UserId).toMatch(/^AROA[0-9A-F]{17}:task-1$/);
  });

  it("answers a repeated request with a signed additional header, and refuses it if that header is changed or missing", async () => {
    const headers = await signedProof(credentials.issue(task), {
      "x-amz-slipway-server-id": "slipway.test",
      "x-server": "a",
    });
    const good = await post(headers, identityForm);
    expect(good.status).toBe(200);
    expect(good.text).toContain("<Arn>arn:aws:sts::000000000000:assumed-role/app-task/task-1</Arn>");
    const { "x-server": _, ...without } = headers;
    for (const bad of [{ ...headers, "x-server": "b" }, without, { ...headers, "x-amz-other": "unsigned" }]) {
      const refused = await post(bad, identityForm);
      expect(refused.status).toBe(403);
      expect(refused.text).toContain("<Code>SignatureDoesNotMatch</Code>");
    }
  });

  it("refuses a body that was not signed, the signature of another path, and a request without a signature", async () => {
    const headers = await signedProof(credentials.issue(task), {});
    expect((await post(headers, identityForm.replace("GetCallerIdentity", "AssumeRole"))).status).toBe(403);
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const anonymous = await post(type, identityForm);
    expect(anonymous.status).toBe(403);
    expect(anonymous.text).toContain("MissingAuthenticationToken");
  });

  it.each([-16, 16])("refuses a request signed %i minutes from now", async (minutes) => {
    const headers = await signedProof(credentials.root, {});
    const before = clock;
    clock = new Date(before.getTime() + minutes * 60_000);
    const refused = await post(headers, identityForm);
    clock = before;
    expect(refused.status).toBe(403);
    expect((await post(headers, identityForm)).status).toBe(200);
  });

  it.each([
    ["a wrong secret", (k: Keys) => ({ ...k, secretAccessKey: `${k.secretAccessKey}x` }), "SignatureDoesNotMatch"],
    ["an unknown key", (k: Keys) => ({ ...k, accessKeyId: "ASIAAAAAAAAAAAAAAAAA" }), "InvalidClientTokenId"],
    [
      "no session token",
      ({ accessKeyId, secretAccessKey }: Keys) => ({ accessKeyId, secretAccessKey }),
      "InvalidClientTokenId",
    ],
    [
      "another session's token",
      (k: Keys) => ({ ...k, sessionToken: credentials.issue(task).sessionToken }),
      "InvalidClientTokenId",
    ],
    [
      "an altered token",
      (k: Keys) => ({ ...k, sessionToken: `${k.sessionToken?.slice(0, -6)}AAAAAA` }),
      "InvalidClientTokenId",
    ],
    ["a token that is not base64", (k: Keys) => ({ ...k, sessionToken: "?" }), "InvalidClientTokenId"],
  ])("refuses %s", async (_, change, code) => {
    const client = clientWith(change(credentials.issue(task)));
    await expect(client.send(new GetCallerIdentityCommand({}))).rejects.toMatchObject({
      name: code,
      $metadata: { httpStatusCode: 403 },
    });
  });

  it("refuses a session after its end, and a revoked one at once", async () => {
    const issued = credentials.issue(task);
    const before = clock;
    clock = new Date(before.getTime() + 900_000);
    await expect(clientWith(issued).send(new GetCallerIdentityCommand({}))).rejects.toMatchObject({
      name: "ExpiredToken",
    });
    clock = before;
    const other = credentials.issue({ ...task, sessionName: "task-2" });
    credentials.revoke("task-1");
    await expect(clientWith(issued).send(new GetCallerIdentityCommand({}))).rejects.toMatchObject({
      name: "InvalidClientTokenId",
    });
    expect((await clientWith(other).send(new GetCallerIdentityCommand({}))).Arn).toContain("task-2");
    clock = new Date(before.getTime() + 1);
  });
});

describe("AssumeRole", () => {
  const input = { RoleArn: "arn:aws:iam::000000000000:role/path/signer", RoleSessionName: "req-1" };

  it("opens a session of one hour for the service's own key", async () => {
    const reply = await clientWith(credentials.root).send(new AssumeRoleCommand(input));
    expect(reply.AssumedRoleUser?.Arn).toBe("arn:aws:sts::000000000000:assumed-role/signer/req-1");
    expect(reply.Credentials?.Expiration?.getTime()).toBe(clock.getTime() + 3_600_000);
    const { AccessKeyId = "", SecretAccessKey = "", SessionToken = "" } = reply.Credentials ?? {};
    const session = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
    expect((await clientWith(session).send(new GetCallerIdentityCommand({}))).Arn).toBe(reply.AssumedRoleUser?.Arn);
  });

  it.each([899, 43_201])("refuses a session of %i seconds", async (DurationSeconds) => {
    const call = clientWith(credentials.root).send(new AssumeRoleCommand({ ...input, DurationSeconds }));
    await expect(call).rejects.toMatchObject({ name: "ValidationError" });
  });

  it("does not let a deployed app assume another role", async () => {
    const call = clientWith(credentials.issue(task)).send(new AssumeRoleCommand(input));
    await expect(call).rejects.toMatchObject({ name: "AccessDenied", $metadata: { httpStatusCode: 403 } });
  });
});

describe("AssumeRole with more than a role", () => {
  const input = { RoleArn: "arn:aws:iam::000000000000:role/signer", RoleSessionName: "req-2" };
  const assume = (more: object) => clientWith(credentials.root).send(new AssumeRoleCommand({ ...input, ...more }));
  const policyOf = (...Statement: object[]) => JSON.stringify({ Version: "2012-10-17", Statement });

  it("applies a session policy: the session may do what it allows and nothing else", async () => {
    const Policy = policyOf(
      { Effect: "Allow", Action: ["s3:Get*"], Resource: "arn:aws:s3:::files/a/*" },
      { Effect: "Deny", Action: "s3:GetObjectVersion", Resource: "*" },
    );
    const { Credentials } = await assume({ Policy });
    const { AccessKeyId = "", SessionToken = "" } = Credentials ?? {};
    const found = credentials.find(AccessKeyId, SessionToken);
    const may = (action: string, resource: string) => found?.allows?.(action, resource);
    expect(may("s3:GetObject", "arn:aws:s3:::files/a/b")).toBe(true);
    expect(may("S3:getobject", "arn:aws:s3:::files/a/b")).toBe(true);
    expect(may("s3:GetObjectVersion", "arn:aws:s3:::files/a/b")).toBe(false);
    expect(may("s3:PutObject", "arn:aws:s3:::files/a/b")).toBe(false);
    expect(may("s3:GetObject", "arn:aws:s3:::files/A/b")).toBe(false);
    expect(may("s3:GetObject", "arn:aws:s3:::files.a/b")).toBe(false);
    const reopened = openCredentials({ dir, now }).find(AccessKeyId, SessionToken);
    expect(reopened?.allows?.("s3:PutObject", "arn:aws:s3:::files/a/b")).toBe(false);
  });

  it.each([
    ["no JSON", "{"],
    ["an unknown effect", policyOf({ Effect: "Maybe", Action: "*", Resource: "*" })],
    [
      "a condition, which is not applied here",
      policyOf({ Effect: "Allow", Action: "*", Resource: "*", Condition: {} }),
    ],
    ["an exclusion, which is not applied here", policyOf({ Effect: "Allow", NotAction: "*", Resource: "*" })],
  ])("refuses a policy that is %s", async (_, Policy) => {
    await expect(assume({ Policy })).rejects.toMatchObject({ name: "MalformedPolicyDocumentException" });
  });

  it.each<[string, object, string]>([
    ["tags", { Tags: [{ Key: "a", Value: "b" }] }, "AccessDenied"],
    ["transitive tags", { TransitiveTagKeys: ["a"] }, "AccessDenied"],
    ["a source identity", { SourceIdentity: "me" }, "AccessDenied"],
    ["managed policies", { PolicyArns: [{ arn: "arn:aws:iam::aws:policy/ReadOnlyAccess" }] }, "ValidationError"],
    ["a second factor", { SerialNumber: "arn:aws:iam::000000000000:mfa/me", TokenCode: "123456" }, "AccessDenied"],
  ])("refuses %s, which it could not keep", async (_, more, name) => {
    await expect(assume(more)).rejects.toMatchObject({ name });
  });
});

describe("together with other services", () => {
  it("ignores requests that are signed for another service or have no form body", async () => {
    const forEcs = {
      authorization: "AWS4-HMAC-SHA256 Credential=AKIA/20261121/us-east-1/ecs/aws4_request, Signature=x",
    };
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await post({ ...form, ...forEcs }, identityForm)).status).toBe(418);
    expect((await post({}, identityForm)).status).toBe(418);
    expect((await fetch(`${server.endpoint}/?Action=GetCallerIdentity`)).status).toBe(418);
  });
});

describe("the store", () => {
  it("keeps the root key, sessions and revocations after a restart, in a file that only its owner can read", () => {
    const kept = credentials.issue({ ...task, sessionName: "task-3" });
    const ended = credentials.issue({ ...task, sessionName: "task-4" });
    credentials.revoke("task-4");
    const reopened = openCredentials({ dir, now });
    expect(reopened.root).toEqual(credentials.root);
    expect(reopened.find(kept.accessKeyId, kept.sessionToken)).toMatchObject({ secretAccessKey: kept.secretAccessKey });
    expect(reopened.find(ended.accessKeyId, ended.sessionToken)).toBeUndefined();
    const path = join(dir, "credentials.json");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).not.toContain(kept.secretAccessKey);
  });

  it("deletes a revocation when all sessions that it affects have expired", () => {
    const before = clock;
    clock = new Date(before.getTime() + 43_200_001);
    credentials.revoke("task-5");
    clock = before;
    expect(JSON.parse(readFileSync(join(dir, "credentials.json"), "utf8")).revoked).toHaveProperty("task-5");
    expect(JSON.parse(readFileSync(join(dir, "credentials.json"), "utf8")).revoked).not.toHaveProperty("task-4");
    expect(() => credentials.issue({ ...task, durationSeconds: 43_201 })).toThrow(RangeError);
  });
});
