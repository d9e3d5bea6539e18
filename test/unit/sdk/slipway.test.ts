import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, expectTypeOf, test, vi } from "vitest";
import type { ListedBuildReply } from "../../../api/builds.ts";
import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServiceError,
  Slipway,
  SlipwayError,
} from "../../../sdk/node.ts";
import { farEnd, polled } from "./far-end.ts";

const project = { orgId: "org_1", projectId: "prj_1" };
const folder = mkdtempSync(join(tmpdir(), "slipway-sdk-"));
const settings = [
  "SLIPWAY_URL",
  "SERVICE_ACCESS_KEY",
  "SERVICE_SECRET_KEY",
  "SLIPWAY_ACCESS_KEY",
  "SLIPWAY_SECRET_KEY",
  "SLIPWAY_TOKEN",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];
beforeEach(() => {
  for (const name of settings) vi.stubEnv(name, undefined);
  vi.stubEnv("SLIPWAY_CONFIG", folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(join(folder, "logins.json"), { force: true });
});

const environment = (values: Record<string, string>) => {
  for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value);
};
const savedLogin = (baseUrl: string, token: string) =>
  writeFileSync(
    join(folder, "logins.json"),
    JSON.stringify({ current: "main", profiles: { main: { baseUrl, token } } }),
  );
const authorizationOf = async (baseUrl: string, made: Slipway, received: { headers: { authorization?: string } }[]) => {
  expect(baseUrl).toBeTruthy();
  await made.ping();
  return received.at(-1)?.headers.authorization;
};

test("the credential comes from the options, then the app's key, then the command line's key, then its saved login", async () => {
  await using service = await farEnd({ body: '"pong"' });
  const { baseUrl, received } = service;
  savedLogin(baseUrl, "saved");
  expect(await authorizationOf(baseUrl, new Slipway(), received)).toBe("Bearer saved");
  environment({ SLIPWAY_URL: baseUrl, SLIPWAY_TOKEN: "line" });
  expect(await authorizationOf(baseUrl, new Slipway(), received)).toBe("Bearer line");
  environment({ SERVICE_ACCESS_KEY: "ak", SERVICE_SECRET_KEY: "sk" });
  expect(await authorizationOf(baseUrl, new Slipway(), received)).toBe("Bearer ak:sk");
  expect(await authorizationOf(baseUrl, new Slipway({ token: "mine" }), received)).toBe("Bearer mine");
  expect(await authorizationOf(baseUrl, new Slipway({ profile: "main" }), received)).toBe("Bearer saved");
});

test("a deployed app's own identity comes before a key in its environment", async () => {
  await using service = await farEnd({ body: '"pong"' });
  environment({ SLIPWAY_URL: service.baseUrl, SERVICE_ACCESS_KEY: "ak", SERVICE_SECRET_KEY: "sk" });
  environment({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${service.baseUrl}/credentials` });
  await expect(new Slipway().ping()).rejects.toMatchObject({ code: "no_identity" });
  expect(service.received.map(({ target }) => target)).toEqual(["/credentials"]);
});

test("a saved token is not sent to another service", async () => {
  savedLogin("https://slipway.example", "saved");
  expect(() => new Slipway({ baseUrl: "https://elsewhere.example" })).toThrow("No credential is configured.");
});

test("a token function is asked before each call", async () => {
  await using service = await farEnd({ body: '"pong"' });
  const tokens = ["one", "two"];
  const slipway = new Slipway({ baseUrl: service.baseUrl, token: () => tokens.shift() ?? "none" });
  await slipway.ping();
  await slipway.ping();
  expect(service.received.map(({ headers }) => headers.authorization)).toEqual(["Bearer one", "Bearer two"]);
});

test("without any setting, the message says what to do, and a broken file of logins is not quoted", () => {
  expect(() => new Slipway()).toThrow("set SLIPWAY_URL, or run: slipway login");
  writeFileSync(join(folder, "logins.json"), '{"hunter2');
  expect(() => new Slipway()).toThrow(/^(?!.*hunter2).*does not hold logins/);
});

test("a POST is repeated with one Idempotency-Key, which the client makes", async () => {
  const busy = { status: 503, headers: { "retry-after": "0" }, body: { message: "later", code: "unavailable" } };
  const created = { id: 1, access: "a", description: "", expiredAt: null, createdAt: "2026-11-20T01:02:03.456Z" };
  await using service = await farEnd(busy, { status: 201, body: { credential: created } });
  const slipway = new Slipway({ baseUrl: service.baseUrl, token: "t", sleep: async () => undefined });
  await slipway.createCredential(project);
  const keys = service.received.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toEqual([keys[0], keys[0]]);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
});

test.each([
  [400, InvalidRequestError],
  [401, AuthenticationError],
  [403, PermissionError],
  [404, NotFoundError],
  [409, ConflictError],
  [410, NotFoundError],
  [422, InvalidRequestError],
  [429, RateLimitError],
  [500, ServiceError],
  [503, ServiceError],
])("status %i is an error of its own class", async (status, type) => {
  await using service = await farEnd({ status, body: { message: "m", code: "c" } });
  const call = new Slipway({ baseUrl: service.baseUrl, token: "t", attemptsMax: 1 }).ping();
  const error = await call.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(type);
  expect(error).toBeInstanceOf(SlipwayError);
  expect(error).toMatchObject({ name: type.name, status, code: "c", message: "m" });
});

test("a service that cannot be reached is a ConnectionError", async () => {
  const gone = await farEnd();
  await gone[Symbol.asyncDispose]();
  await expect(new Slipway({ baseUrl: gone.baseUrl, token: "t", attemptsMax: 1 }).ping()).rejects.toThrow(
    ConnectionError,
  );
});

test("a list is read page after page", async () => {
  const { warning: _, canceledAt: __, findings: ___, ...listed } = polled("ready").build as Record<string, unknown>;
  const page = (id: string, nextCursor: string | null) => ({
    body: {
      builds: [{ ...listed, id, canRedeploy: false, redeployBlockedBy: null }],
      nextCursor,
      redeployAvailability: { status: "available" },
    },
  });
  await using service = await farEnd(page("bld_2", "c1"), page("bld_1", null));
  const slipway = new Slipway({ baseUrl: service.baseUrl, token: "t" });
  const found: ListedBuildReply[] = [];
  for await (const build of slipway.iterate("listBuilds", { ...project, limit: 1 })) {
    expectTypeOf(build).toEqualTypeOf<ListedBuildReply>();
    found.push(build);
  }
  expect(found.map(({ id }) => id)).toEqual(["bld_2", "bld_1"]);
  expect(service.received.map(({ target }) => target.split("?")[1])).toEqual(["limit=1", "limit=1&cursor=c1"]);
});

test("a list without pages is one page", async () => {
  await using service = await farEnd({ body: { organizations: [{ id: "org_1", name: "One", role: null }] } });
  const found = await Array.fromAsync(
    new Slipway({ baseUrl: service.baseUrl, token: "t" }).iterate("listOrganizations"),
  );
  expect(found).toEqual([{ id: "org_1", name: "One", role: null }]);
});

test("a build whose upload fails is canceled, and the upload's error is told", async () => {
  await using storage = await farEnd({ status: 403, body: "<Error><Code>AccessDenied</Code></Error>" });
  const created = { status: 201, body: { build: polled("pending").build, url: `${storage.baseUrl}/put?secret=1` } };
  await using service = await farEnd(created, { body: polled("pending") });
  const slipway = new Slipway({ baseUrl: service.baseUrl, token: "t" });
  await expect(slipway.deploy(Buffer.from("PK"), project)).rejects.toMatchObject({
    code: "upload_refused",
    message: expect.not.stringContaining("secret"),
  });
  expect(service.received.map(({ method, target }) => `${method} ${target}`)).toEqual([
    "POST /organizations/org_1/projects/prj_1/builds",
    "POST /organizations/org_1/projects/prj_1/builds/bld_1/cancel",
  ]);
});

test("a failed build rejects with its reason, and the build", async () => {
  await using storage = await farEnd({ body: "" });
  const created = { status: 201, body: { build: polled("pending").build, url: `${storage.baseUrl}/put` } };
  await using service = await farEnd(
    created,
    { body: polled("analyzing") },
    { body: polled("error", { error: "no start" }) },
  );
  const slipway = new Slipway({ baseUrl: service.baseUrl, token: "t", sleep: async () => undefined });
  const stages: string[] = [];
  const deployment = slipway.deploy(Buffer.from("PK"), { ...project, onProgress: ({ stage }) => stages.push(stage) });
  await expect(deployment).rejects.toMatchObject({
    name: "DeploymentError",
    message: "no start",
    body: { id: "bld_1" },
  });
  expect(stages).toEqual(["uploading", "analyzing", "error"]);
});
