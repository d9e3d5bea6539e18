import { expect, expectTypeOf, test } from "vitest";
import type { BuildReply } from "../../../api/builds.ts";
import { routes } from "../../../api/index.ts";
import { methodName } from "../../../api/route.ts";
import { createClient } from "../../../sdk/client.ts";
import { SlipwayError } from "../../../sdk/errors.ts";
import { build, farEnd, polled } from "./far-end.ts";

const keys = { accessKey: "ak", secretKey: "sk" };
const project = { orgId: "org_1", projectId: "prj_1" };
const caught = (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable("the call succeeded"),
    (error: unknown) => (error instanceof SlipwayError ? error : expect.unreachable(`not a SlipwayError: ${error}`)),
  );

test("the client has one method for every route of the contract, named after it", () => {
  const client = createClient({ baseUrl: "http://127.0.0.1:1", ...keys });
  expect(Object.keys(client).sort()).toEqual(routes.map((route) => methodName(route.id)).sort());
});

test("no body or query field has the name of a parameter in the same route's path, since both are given side by side", () => {
  for (const { id, path, definition } of routes) {
    const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const body: object = definition.body && "shape" in definition.body ? (definition.body.shape as object) : {};
    const fields = [...Object.keys(definition.query?.shape ?? {}), ...Object.keys(body)];
    expect(new Set([...params, ...fields]).size, id).toBe(params.length + fields.length);
  }
});

test("parameters go into the path, the rest into the body, the key into one header", async () => {
  await using service = await farEnd({ status: 201, body: { build, url: "http://127.0.0.1/put" } });
  const client = createClient({ baseUrl: `${service.baseUrl}/`, ...keys });
  const reply = await client.createBuild({ ...project, orgId: "org/ü", title: "One" }, { idempotencyKey: "once" });
  expectTypeOf(reply).toEqualTypeOf<{ build: BuildReply; url: string }>();
  expect(reply.build.id).toBe("bld_1");
  const [request] = service.received;
  expect(request).toMatchObject({ method: "POST", target: "/organizations/org%2F%C3%BC/projects/prj_1/builds" });
  expect(JSON.parse(request?.body ?? "")).toEqual({ title: "One" });
  expect(request?.headers).toMatchObject({
    authorization: "Bearer ak:sk",
    "content-type": "application/json",
    "idempotency-key": "once",
  });
});

test("a query takes numbers and leaves out what is undefined", async () => {
  await using service = await farEnd({ body: { lines: [], nextCursor: null } });
  const client = createClient({ baseUrl: service.baseUrl, token: "pat" });
  await client.listBuildLogs({ ...project, buildId: "bld_1", limit: 20, cursor: undefined });
  expect(service.received[0]).toMatchObject({
    target: "/organizations/org_1/projects/prj_1/builds/bld_1/logs?limit=20",
    body: "",
  });
  expect(service.received[0]?.headers.authorization).toBe("Bearer pat");
});

test("input and reply are typed from the route alone", async () => {
  const client = createClient({ baseUrl: "http://127.0.0.1:1", ...keys });
  expectTypeOf(client.ping).returns.resolves.toEqualTypeOf<"pong">();
  expectTypeOf(client.updateEnvironment).parameter(0).toEqualTypeOf<{
    orgId: string | number;
    projectId: string | number;
    envId: string | number;
    name?: string | undefined;
    value?: string | undefined;
  }>();
  // @ts-expect-error: a path parameter is missing
  await expect(client.getBuild({ orgId: "org_1", projectId: "prj_1" })).rejects.toThrow("get-build needs buildId");
});

test.each(["", ".", ".."])("the path parameter %j is refused before anything is sent", async (buildId) => {
  await using service = await farEnd({ body: polled("ready") });
  const client = createClient({ baseUrl: service.baseUrl, ...keys });
  await expect(client.getBuild({ ...project, buildId })).rejects.toThrow(TypeError);
  expect(service.received).toEqual([]);
});

test("an error carries what the service said: status, code, message, issues, request id, retry time and the body", async () => {
  const body = {
    status: "Bad Request",
    message: "The request breaks a rule: title must have at most 128 characters.",
    code: "invalid_request",
    requestId: "req_1",
    issues: [{ path: "title", message: "must have at most 128 characters" }],
  };
  await using service = await farEnd({ status: 400, headers: { "retry-after": "7" }, body });
  const client = createClient({ baseUrl: service.baseUrl, ...keys });
  const error = await caught(client.createBuild({ ...project, title: "x".repeat(200) }));
  const { message, code, requestId, issues } = body;
  expect(error).toMatchObject({ status: 400, message, code, requestId, issues, body, retryAfterSeconds: 7 });
});

test("a 409 keeps the running build that came with it", async () => {
  const running = { id: "bld_0", status: "building", createdAt: build.createdAt };
  await using service = await farEnd({ status: 409, body: { status: "Conflict", message: "busy", build: running } });
  const error = await caught(createClient({ baseUrl: service.baseUrl, ...keys }).createBuild(project));
  expect(error).toMatchObject({ status: 409, message: "busy", body: { build: running } });
});

test("an answer that is not the service's own is an error with its status", async () => {
  await using service = await farEnd({
    status: 500,
    headers: { "x-request-id": "req_2" },
    body: "<html>no upstream</html>",
  });
  const error = await caught(createClient({ baseUrl: service.baseUrl, ...keys }).ping());
  expect(error).toMatchObject({ status: 500, code: "unexplained", requestId: "req_2" });
});

test.each([
  [429, "Too Many Requests", "too_many_requests"],
  [503, "Service Unavailable", "unavailable"],
  [413, "Request Entity Too Large", "body_too_large"],
])("an answer %i of API Gateway itself has the code that the service would give", async (status, message, code) => {
  await using service = await farEnd({ status, body: { message } });
  const client = createClient({ baseUrl: service.baseUrl, ...keys }, { attemptsMax: 1 });
  expect(await caught(client.ping())).toMatchObject({ status, code, message });
});

test("a successful answer that does not match the contract is an error, an additional field is not", async () => {
  await using service = await farEnd({ body: "ping" }, { body: { endpoints: ["a"], extra: 1 } });
  const client = createClient({ baseUrl: service.baseUrl, ...keys });
  expect(await caught(client.ping())).toMatchObject({ code: "unexpected_reply", status: 200 });
  expect(await client.listEndpoints(project)).toEqual({ endpoints: ["a"] });
});

test("a redirect is not followed, since the key would go with it", async () => {
  await using elsewhere = await farEnd({ body: '"pong"' });
  await using service = await farEnd({ status: 307, headers: { location: `${elsewhere.baseUrl}/ping` } });
  expect(await caught(createClient({ baseUrl: service.baseUrl, ...keys }).ping())).toMatchObject({ status: 307 });
  expect(elsewhere.received).toEqual([]);
});

test("a client without arguments reports the missing settings", () => {
  expect(() => createClient()).toThrow("SLIPWAY_URL is not set: createClient without arguments works inside an app");
});

test.each([
  ["no address", { baseUrl: "slipway", ...keys }],
  ["another protocol", { baseUrl: "ftp://host", ...keys }],
  ["a password in the address", { baseUrl: "http://me:hunter2@host", ...keys }],
  ["a line break in the key", { baseUrl: "http://host", accessKey: "ak", secretKey: "hunter2\n" }],
  ["a colon in the token", { baseUrl: "http://host", token: "a:hunter2" }],
  ["an empty key", { baseUrl: "http://host", accessKey: "ak", secretKey: "" }],
])("a configuration with %s is refused without repeating a secret", (_, configuration) => {
  expect(() => createClient(configuration)).toThrow(/^(?!.*hunter2)/);
});
