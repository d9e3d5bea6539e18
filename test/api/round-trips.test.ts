import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RouteId, routes } from "../../api/index.ts";
import { type DynamoDb, startDynamoDb } from "../../local/dynamodb/server.ts";
import { userOfToken } from "../../local/seed.ts";
import { deploy, nodeApp } from "../harness/app.ts";
import { countedHeader, followRequests } from "../harness/counted-calls.ts";
import { type DynamoProxy, startDynamoProxy } from "../harness/dynamodb.ts";
import { type Answer, type Running, startRunning } from "../harness/service.ts";

interface Request {
  method: string;
  path: string;
  body?: object;
  headers?: Record<string, string>;
}

/** The limits of a route: its calls to DynamoDB, and the number of sequential ones. */
interface Budget {
  prepare(running: Running): Promise<Request>;
  operations: string[];
  depth: number;
  status?: number;
  /** The route is for users: called with the personal access token instead of the key. */
  user?: true;
}

const read = { operations: ["BatchGetItem"], depth: 1 };
const list = { operations: ["BatchGetItem", "Query"], depth: 1 };
const write = { operations: ["TransactWriteItems"], depth: 1, status: 201 };
const change = { operations: ["BatchGetItem", "TransactWriteItems"], depth: 2 };

async function signedIn(running: Running): Promise<Record<string, string>> {
  const userId = userOfToken(running.seed.token) ?? "";
  const { url } = await running.operator("create-sign-in-link", { userId });
  return { code: String(url).split("#code=")[1] ?? "" };
}
/** The headers of a browser that is signed in. */
async function aCookie(running: Running): Promise<Record<string, string>> {
  const answer = await running.call("POST", "/console/session", { body: await signedIn(running) });
  expect(answer.status).toBe(201);
  return { cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "" };
}

/** The headers of a console that is signed in. */
async function aConsoleBearer(running: Running): Promise<Record<string, string>> {
  const { body } = await running.call("POST", "/console/session", { body: await signedIn(running) });
  return { authorization: `Bearer ${body.session.token}`, "content-type": "application/json" };
}
const encoded = (text: string) => Buffer.from(text).toString("base64url");
const aCredential = { id: "x", rawId: "x", type: "public-key" };
const answered = { clientDataJSON: encoded(JSON.stringify({ challenge: "unknown" })) };
const signatureOf = ({ seed }: Running) => ({
  authenticatorData: "x",
  signature: "x",
  userHandle: encoded(userOfToken(seed.token) ?? ""),
});

const at = async (method: string, path: string, body?: object) => ({ method, path, ...(body && { body }) });
const organization = ({ seed }: Running) => `/organizations/${seed.organizationId}`;
const files = (running: Running) => `${organization(running)}/storages/${running.seed.storageId}/files`;
const tables = (running: Running) => `${organization(running)}/databases/${running.seed.databaseId}/tables`;
const rows = (running: Running) => `${tables(running)}/counted/rows`;
const aFile = { files: [{ name: "a", mime: "text/plain" }] };

async function made(running: Running, path: string, body?: object): Promise<Answer["body"]> {
  const answer = await running.call("POST", path, body ? { body } : {});
  expect(answer.status).toBe(201);
  return answer.body;
}
async function aVariable(running: Running): Promise<string> {
  const environments = `${running.project}/environments`;
  return `${environments}/${(await made(running, environments, { name: `V_${Date.now()}`, value: "" })).environment.id}`;
}
async function aStoredFile(running: Running): Promise<string> {
  return `${files(running)}/${(await made(running, files(running), aFile)).files[0].id}`;
}
async function aBuild(running: Running): Promise<string> {
  return `${running.project}/builds/${(await made(running, `${running.project}/builds`)).build.id}`;
}

async function aMember(running: Running): Promise<string> {
  const members = `${organization(running)}/members`;
  const body = { email: `${randomUUID()}@example.com`, role: "member" };
  const made = await running.call("POST", members, { body, bearer: running.seed.token });
  return `${members}/${made.body.member.id}`;
}

/** In the order of their tests: the routes of tables use the table and the row created before. */
const budgets = {
  ping: { ...read, prepare: () => at("GET", "/ping") },
  "list-organizations": { ...read, prepare: () => at("GET", "/organizations") },
  "create-organization": {
    ...change,
    status: 201,
    user: true,
    prepare: () => at("POST", "/organizations", { name: "Another" }),
  },
  "get-organization": { ...read, prepare: (running) => at("GET", organization(running)) },
  "update-organization": { ...change, prepare: (running) => at("PUT", organization(running), { name: "Counted" }) },
  "delete-project": {
    ...change,
    prepare: async (running) => {
      const { project } = await made(running, `${organization(running)}/projects`, { name: "Deleted" });
      return at("DELETE", `${organization(running)}/projects/${project.id}?confirm=Deleted`);
    },
  },
  "delete-database": {
    ...change,
    prepare: async (running) => {
      const { database } = await made(running, `${organization(running)}/databases`, { name: "Deleted" });
      return at("DELETE", `${organization(running)}/databases/${database.id}?confirm=Deleted`);
    },
  },
  // A mark blocks new files while the list of files is read.
  "delete-storage": {
    operations: ["BatchGetItem", "Query", "TransactWriteItems", "TransactWriteItems"],
    depth: 4,
    prepare: async (running) => {
      const { storage } = await made(running, `${organization(running)}/storages`, { name: "Deleted" });
      return at("DELETE", `${organization(running)}/storages/${storage.id}?confirm=Deleted`);
    },
  },
  "list-members": { ...list, prepare: (running) => at("GET", `${organization(running)}/members`) },
  "create-member": {
    ...change,
    status: 201,
    user: true,
    prepare: (running) =>
      at("POST", `${organization(running)}/members`, { email: `${randomUUID()}@example.com`, role: "member" }),
  },
  "update-member": {
    ...change,
    user: true,
    prepare: async (running) => at("PUT", await aMember(running), { role: "admin" }),
  },
  // The projects that have the member among their managers are listed before the membership ends.
  "delete-member": {
    operations: ["BatchGetItem", "Query", "TransactWriteItems"],
    depth: 3,
    user: true,
    prepare: async (running) => at("DELETE", await aMember(running)),
  },
  "get-me": { ...read, prepare: () => at("GET", "/me") },
  "list-tokens": { ...list, user: true, prepare: () => at("GET", "/me/tokens") },
  "create-token": { ...change, status: 201, user: true, prepare: () => at("POST", "/me/tokens") },
  "delete-token": {
    ...change,
    user: true,
    prepare: async (running) => {
      const { body } = await running.call("POST", "/me/tokens", { bearer: running.seed.token });
      return at("DELETE", `/me/tokens/${body.token.id}`);
    },
  },
  "list-projects": { ...list, prepare: (running) => at("GET", `${organization(running)}/projects`) },
  "create-project": {
    ...write,
    prepare: (running) => at("POST", `${organization(running)}/projects`, { name: "Counted" }),
  },
  "get-project": { ...read, prepare: (running) => at("GET", running.project) },
  "update-project": { ...change, prepare: (running) => at("PUT", running.project, { name: "Counted" }) },
  "set-managers": { ...change, prepare: (running) => at("PUT", `${running.project}/managers`, { userIds: null }) },
  "create-domain": {
    ...change,
    status: 201,
    prepare: (running) => at("POST", `${running.project}/domains`, { domain: "counted.example.com" }),
  },
  "list-domains": { ...read, prepare: (running) => at("GET", `${running.project}/domains`) },
  "delete-domain": {
    ...change,
    prepare: (running) => at("DELETE", `${running.project}/domains/counted.example.com`),
  },
  "list-databases": { ...list, prepare: (running) => at("GET", `${organization(running)}/databases`) },
  "create-database": {
    ...write,
    prepare: (running) => at("POST", `${organization(running)}/databases`, { name: "Counted" }),
  },
  "update-database": {
    ...change,
    prepare: (running) =>
      at("PUT", `${organization(running)}/databases/${running.seed.databaseId}`, { name: "Counted" }),
  },
  "create-storage": {
    ...write,
    prepare: (running) => at("POST", `${organization(running)}/storages`, { name: "Counted" }),
  },
  "update-storage": {
    ...change,
    prepare: (running) => at("PUT", `${organization(running)}/storages/${running.seed.storageId}`, { name: "Counted" }),
  },
  "create-session": { ...write, prepare: () => at("POST", "/sessions") },
  "list-endpoints": { ...read, prepare: (running) => at("GET", `${running.project}/endpoints`) },
  "list-builds": { ...list, prepare: (running) => at("GET", `${running.project}/builds`) },
  "create-build": { ...write, prepare: (running) => at("POST", `${running.project}/builds`, { title: "one" }) },
  "get-build": { ...read, prepare: async (running) => at("GET", await aBuild(running)) },
  // The build that serves, whose memory the shares are of, is known after ECS has named it.
  "get-metrics": {
    operations: ["BatchGetItem", "BatchGetItem"],
    depth: 2,
    prepare: async (running) => at("GET", `${running.project}/metrics`),
  },
  "list-app-logs": { ...read, prepare: async (running) => at("GET", `${running.project}/logs`) },
  "list-build-logs": {
    ...read,
    prepare: async (running) => {
      const { body } = await running.call("GET", `${running.project}/builds?limit=1`);
      return at("GET", `${running.project}/builds/${body.builds[0].id}/logs`);
    },
  },
  "cancel-build": {
    ...change,
    prepare: async (running) => {
      const { body } = await running.call("GET", `${running.project}/builds?limit=1`);
      return at("POST", `${running.project}/builds/${body.builds[0].id}/cancel`);
    },
  },
  rebuild: {
    operations: ["BatchGetItem", "BatchGetItem", "TransactWriteItems"],
    depth: 3,
    status: 201,
    prepare: (running) => at("POST", `${running.project}/rebuild`),
  },
  "redeploy-build": {
    ...change,
    status: 201,
    prepare: async (running) => {
      const { body } = await running.call("GET", `${running.project}/builds`);
      const target = body.builds.find((build: { canRedeploy: boolean }) => build.canRedeploy);
      return at("POST", `${running.project}/builds/${target.id}/redeploy`);
    },
  },
  "list-credentials": { ...read, prepare: (running) => at("GET", `${running.project}/credentials`) },
  "create-credential": { ...write, prepare: (running) => at("POST", `${running.project}/credentials`) },
  "delete-credential": {
    ...change,
    prepare: async (running) => {
      const { credential } = await made(running, `${running.project}/credentials`);
      return at("DELETE", `${running.project}/credentials/${credential.id}`);
    },
  },
  "list-environments": { ...list, prepare: (running) => at("GET", `${running.project}/environments`) },
  "create-environment": {
    ...write,
    prepare: (running) => at("POST", `${running.project}/environments`, { name: "A", value: "b" }),
  },
  "update-environment": {
    ...change,
    prepare: async (running) => at("PUT", await aVariable(running), { name: "LONGER_THAN_BEFORE", value: "x" }),
  },
  "delete-environment": { ...change, prepare: async (running) => at("DELETE", await aVariable(running)) },
  "list-events": { ...list, prepare: (running) => at("GET", `${organization(running)}/events`) },
  "create-console-session": {
    operations: ["BatchGetItem", "BatchGetItem", "TransactWriteItems"],
    depth: 3,
    status: 201,
    prepare: async (running) => at("POST", "/console/session", await signedIn(running)),
  },
  "get-console-session": {
    ...read,
    prepare: async (running) => ({ method: "GET", path: "/console/session", headers: await aCookie(running) }),
  },
  "delete-console-session": {
    ...write,
    status: 200,
    prepare: async (running) => ({ method: "DELETE", path: "/console/session", headers: await aCookie(running) }),
  },
  "list-console-sessions": { ...list, user: true, prepare: () => at("GET", "/me/sessions") },
  "end-console-session": {
    ...change,
    user: true,
    prepare: async (running) => {
      await aCookie(running);
      const { body } = await running.call("GET", "/me/sessions", { bearer: running.seed.token });
      return at("DELETE", `/me/sessions/${body.sessions[0].id}`);
    },
  },
  "delete-console-sessions": {
    operations: ["BatchGetItem", "Query", "TransactWriteItems"],
    depth: 2,
    user: true,
    prepare: async (running) => {
      await aCookie(running);
      return at("DELETE", "/me/sessions");
    },
  },
  "begin-passkey": {
    operations: ["BatchGetItem", "Query", "TransactWriteItems"],
    depth: 2,
    prepare: async (running) => ({
      method: "POST",
      path: "/console/passkeys/options",
      headers: await aConsoleBearer(running),
    }),
  },
  // The successes of these three take an authenticator: test/console/passkeys.ts.
  "create-passkey": {
    ...read,
    status: 400,
    prepare: async (running) => ({
      method: "POST",
      path: "/console/passkeys",
      headers: await aConsoleBearer(running),
      body: { name: "Key", response: { ...aCredential, response: { ...answered, attestationObject: "x" } } },
    }),
  },
  "sign-in-with-passkey": {
    ...read,
    status: 401,
    prepare: (running) =>
      at("POST", "/console/passkeys/sign-in", {
        response: { ...aCredential, response: { ...answered, ...signatureOf(running) } },
      }),
  },
  "delete-passkey": { ...read, status: 404, user: true, prepare: () => at("DELETE", "/me/passkeys/unknown") },
  "begin-passkey-sign-in": { ...write, status: 200, prepare: () => at("POST", "/console/passkeys/sign-in-options") },
  "create-connection-code": {
    ...change,
    status: 201,
    prepare: async (running) => ({
      method: "POST",
      path: "/console/connect",
      headers: await aConsoleBearer(running),
      body: { challenge: "0".repeat(43), tool: "Tool" },
    }),
  },
  // Its success takes the code of a verifier: test/api/connect-tool.test.ts.
  "connect-tool": {
    ...read,
    status: 401,
    prepare: () => at("POST", "/console/connect/token", { code: "slc_unknown", verifier: "0".repeat(43) }),
  },
  "list-passkeys": { ...list, user: true, prepare: () => at("GET", "/me/passkeys") },
  "list-storages": { ...list, prepare: (running) => at("GET", `${organization(running)}/storages`) },
  "list-files": { ...list, prepare: (running) => at("GET", files(running)) },
  "create-files": { ...change, status: 201, prepare: (running) => at("POST", files(running), aFile) },
  "get-file": { ...read, prepare: async (running) => at("GET", await aStoredFile(running)) },
  "delete-file": { ...change, prepare: async (running) => at("DELETE", await aStoredFile(running)) },
  "create-table": {
    ...read,
    status: 201,
    prepare: (running) => at("POST", tables(running), { name: "counted", columns: [{ name: "a", type: "integer" }] }),
  },
  "list-tables": { ...read, prepare: (running) => at("GET", tables(running)) },
  "update-table": { ...read, prepare: (running) => at("PUT", `${tables(running)}/counted`, { comment: "changed" }) },
  "create-row": { ...read, status: 201, prepare: (running) => at("POST", rows(running), { row: { a: 1 } }) },
  "list-rows": { ...read, prepare: (running) => at("GET", rows(running)) },
  "get-row": { ...read, prepare: (running) => at("GET", `${rows(running)}/1`) },
  "update-row": { ...read, prepare: (running) => at("PUT", `${rows(running)}/1`, { row: { a: 2 } }) },
  "delete-row": { ...read, prepare: (running) => at("DELETE", `${rows(running)}/1`) },
  "delete-table": { ...read, prepare: (running) => at("DELETE", `${tables(running)}/counted`) },
} satisfies Record<RouteId, Budget>;

/** How many calls an endpoint makes to DynamoDB, and how many of them follow one another (docs/data-model.md, Reading and writing). */
describe("round trips to the table", () => {
  let database: DynamoDb;
  let proxy: DynamoProxy;
  let running: Running;

  beforeAll(async () => {
    const home = mkdtempSync(join(tmpdir(), "slipway-trips-"));
    database = await startDynamoDb({ file: join(home, "counted.db"), tableName: "slipway" });
    proxy = await startDynamoProxy(database.endpoint);
    process.env.AWS_ENDPOINT_URL_DYNAMODB = proxy.endpoint;
    followRequests();
    running = await startRunning();
    await running.call("GET", "/ping");
    await running.call("GET", "/ping", { bearer: running.seed.token });
    for (const text of ["one", "two"]) {
      expect((await deploy(running, nodeApp(`res.end("${text}")`))).status).toBe("ready");
    }
    // The database starts with its first use, which is slow on a busy machine.
    expect((await running.call("GET", tables(running))).status).toBe(200);
  }, 60_000);
  afterAll(async () => {
    await running.stop();
    await proxy.close();
    await database.close();
  });

  /** The calls of one request, without the updates that it records on the side. */
  async function counted(method: string, path: string, body?: unknown, bearer?: string, more?: Record<string, string>) {
    const name = randomUUID();
    proxy.delayMs = 60;
    const answer = await running.call(method, path, {
      headers: { [countedHeader]: name, ...more },
      ...(bearer && { bearer }),
      ...(body !== undefined && { body }),
    });
    proxy.delayMs = 0;
    const calls = proxy.calls.filter((call) => call.countedFor === name && call.operation !== "UpdateItem");
    let depth = 0;
    let last = Number.NEGATIVE_INFINITY;
    for (const call of calls.sort((one, other) => one.began - other.began)) {
      if (call.began >= last) {
        depth += 1;
        last = call.ended;
      }
    }
    const operations = calls.map((call) => call.operation);
    // Parallel calls have no order.
    return { answer, depth, operations: operations.sort() };
  }

  const newestEvent = async () => (await running.call("GET", `${organization(running)}/events?limit=1`)).body.events[0];

  test.each(Object.entries<Budget>(budgets))(
    "%s",
    async (route, { prepare, operations, depth, status = 200, user }) => {
      const { method, path, body, headers } = await prepare(running);
      const before = await newestEvent();
      const seen = await counted(method, path, body, user && running.seed.token, headers);
      expect(seen.answer.status).toBe(status);
      expect(seen).toMatchObject({ depth, operations });
      const { event } = routes.find(({ id }) => id === route)?.definition ?? {};
      const after = await newestEvent();
      // A user's own changes are no events of the organization that the test reads.
      const isListed = path.startsWith(organization(running));
      if (isListed && (event === "commit" || event === "around"))
        expect(after).toMatchObject({ action: route, outcome: "done" });
      else expect(after).toEqual(before);
      const started = method === "POST" && seen.answer.body.build?.id;
      if (started) await running.call("POST", `${running.project}/builds/${started}/cancel`);
    },
  );

  test("the 409 that names the running build is one transaction", async () => {
    const created = await running.call("POST", `${running.project}/builds`);
    const refused = await counted("POST", `${running.project}/builds`);
    expect(refused.answer.status).toBe(409);
    expect(refused.answer.body.build.id).toBe(created.body.build.id);
    expect(refused).toMatchObject({ depth: 1, operations: ["TransactWriteItems"] });
    await running.call("POST", `${running.project}/builds/${created.body.build.id}/cancel`);
  });

  test("a credential of the wrong shape costs no call at all", async () => {
    const headers = { [countedHeader]: "malformed" };
    const answer = await running.call("GET", "/ping", { bearer: "slk_wrong:sls_wrong", headers });
    expect(answer.status).toBe(401);
    expect(proxy.calls.filter((call) => call.countedFor === "malformed")).toEqual([]);
  });
});
