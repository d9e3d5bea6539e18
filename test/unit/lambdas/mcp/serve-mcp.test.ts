import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";

/** The service behind the function: each test says how it answers. */
let behind: RequestListener;
let asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  behind(request, response);
});
type Handler = (event: unknown, context: unknown) => Promise<APIGatewayProxyStructuredResultV2>;
let handler: Handler;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("SERVICE_HOST", `127.0.0.1:${(server.address() as AddressInfo).port}`);
  handler = (await import("../../../../lambdas/mcp/serve-mcp.ts")).handler as unknown as Handler;
});
beforeEach(() => {
  asked = [];
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.close();
  server.closeAllConnections();
});

const problem = (status: number, code: string, headers: Record<string, string> = {}): RequestListener => {
  return (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ status: "x", message: `It is ${code}.`, code, requestId: "req_1" }));
  };
};

async function post(body: unknown, { headers = {}, remainingMs = 25_000 } = {}) {
  const event = {
    headers: {
      authorization: "Bearer slp_x",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { requestId: "req_2", http: { method: "POST", path: "/mcp" } },
  };
  const { statusCode, body: text } = await handler(event, { getRemainingTimeInMillis: () => remainingMs });
  return { status: statusCode ?? 0, body: text ? JSON.parse(text) : undefined };
}
const request = (method: string, params: object = {}) => ({ jsonrpc: "2.0", id: 7, method, params });
const call = (name: string, args: object = {}) => request("tools/call", { name, arguments: args });

test.each([
  ["is overloaded", problem(503, "unavailable", { "retry-after": "3" }), "unavailable"],
  ["throttles", problem(429, "too_many_requests", { "retry-after": "3" }), "too_many_requests"],
  ["has a fault", problem(500, "internal"), "internal"],
  ["answers a proxy's page", (_, response) => response.writeHead(502).end("<html>"), "unavailable"],
  ["ends the connection", (incoming) => incoming.socket.destroy(), "network"],
] satisfies [string, RequestListener, string][])(
  "a service that %s gives the protocol's own errors",
  async (_, as, code) => {
    behind = as;
    const listed = await post(request("tools/list"));
    expect(listed).toMatchObject({
      status: 200,
      body: { jsonrpc: "2.0", id: 7, error: { code: -32000, data: { code } } },
    });
    const called = await post(call("list_projects", { orgId: "org_1" }));
    expect(called).toMatchObject({ status: 200, body: { id: 7, result: { isError: true } } });
    expect(called.body.result.content[0].text).toContain(code);
  },
);

test("a service that does not answer gives an error of the protocol before the function's time is over", async () => {
  behind = () => undefined;
  const called = await post(call("list_projects", { orgId: "org_1" }), { remainingMs: 2_200 });
  expect(called).toMatchObject({ status: 200, body: { result: { isError: true } } });
  expect(called.body.result.content[0].text).toContain("timeout");
});

test("a call is proved by its own route, and a refused credential is a 401 whatever is called", async () => {
  behind = (incoming, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(incoming.url === "/me" ? { user: null, organizations: [] } : { projects: [] }));
  };
  expect((await post(call("list_projects", { orgId: "org_1" }))).status).toBe(200);
  expect(asked).toEqual(["GET /organizations/org_1/projects"]);
  asked = [];
  expect((await post(call("no_such_tool"))).body.error.code).toBe(-32602);
  expect(asked).toEqual(["GET /me"]);
  behind = problem(401, "unauthorized");
  for (const message of [call("list_projects", { orgId: "org_1" }), call("no_such_tool"), request("tools/list")]) {
    expect((await post(message)).status).toBe(401);
  }
});

test("a batch whose only call is canceled in it is answered in time", async () => {
  behind = () => undefined;
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
  const { status } = await post([call("list_projects", { orgId: "org_1" }), cancel], { remainingMs: 2_200 });
  expect(status).toBe(200);
});

test("arguments that are huge or deep are refused by the protocol", async () => {
  behind = problem(404, "not_found");
  expect((await post(call("list_projects", { orgId: "x".repeat(1024 * 1024) }))).status).toBe(413);
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const text = JSON.stringify(
    call("change_table", { orgId: "o", dbId: "d", tableName: "t", add: [{ name: "a", deep: 0 }] }),
  );
  const answered = await post(text.replace('"deep":0', `"deep":${deep}`));
  expect(answered.status).toBeLessThan(500);
});

test("an id that an address cannot hold is refused, and nothing is called", async () => {
  behind = problem(500, "internal");
  const { body } = await post(call("get_build", { orgId: "org_1", projectId: "..", buildId: "bld_1" }));
  expect(body.result.isError).toBe(true);
  expect(body.result.content[0].text).toMatch(/^Refused: invalid_request\.[\s\S]*projectId must be an id/);
});

test("no stream is opened, for no response could end it", async () => {
  behind = (_, response) => response.end(JSON.stringify({ user: null, organizations: [] }));
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  };
  const listen = request("subscriptions/listen", { _meta, notifications: { toolsListChanged: true } });
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" };
  const { status, body } = await post(listen, { headers, remainingMs: 5_000 });
  expect([status, body.error.message]).toEqual([200, "Subscription limit reached"]);
});
