import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RouteId, routes } from "../../api/index.ts";
import { openApi } from "../../api/openapi.ts";
import { type Operation, operationsOf } from "../../lambdas/documents/model/operations.ts";
import { cliSample, curlSample, sdkSample } from "../../lambdas/documents/model/samples.ts";
import { userOfToken } from "../../local/seed.ts";
import { SlipwayError } from "../../sdk/errors.ts";
import { Slipway } from "../../sdk/node.ts";
import { deploy, nodeApp } from "../harness/app.ts";
import { type Answer, type Running, startRunning } from "../harness/service.ts";
import { commandLine, folderWith } from "../unit/cli/slipway.ts";

type Ids = Record<string, string>;
const run = promisify(execFile);
/** Without --norc, bash takes Node.js's pipe for a connection of rshd and runs the user's own .bashrc first. */
const plain = ["--norc", "-c"];

let running: Running;
let bearer: string;
let ids: Ids;

const organization = () => `/organizations/${running.seed.organizationId}`;
const storage = () => `${organization()}/storages/${running.seed.storageId}`;
const tables = () => `${organization()}/databases/${running.seed.databaseId}/tables`;
const call = (method: string, path: string, body?: object) => running.call(method, path, { bearer, body });
async function made(path: string, body: object): Promise<Answer["body"]> {
  const answer = await call("POST", path, body);
  expect([path, answer.status, answer.status === 201 ? "" : answer.body]).toEqual([path, 201, ""]);
  return answer.body;
}
/** Deletes what an earlier sample of the list has made. */
async function clear(path: string, isMade: (item: Ids) => boolean, id: string): Promise<undefined> {
  const [items] = Object.values((await call("GET", path)).body) as [Ids[]];
  for (const item of items.filter(isMade)) expect((await call("DELETE", `${path}/${item[id]}`)).status).toBe(200);
}
async function signIn(): Promise<string> {
  const user = { userId: userOfToken(running.seed.token) };
  const { url } = (await running.operator("create-sign-in-link", user)) as unknown as { url: string };
  const code = { code: url.split("#code=")[1] };
  return String((await running.call("POST", "/console/session", { bearer: null, body: code })).body.session.token);
}
async function endBuild(): Promise<undefined> {
  const { body } = await call("GET", `${running.project}/builds?limit=1`);
  const [newest] = body.builds;
  if (newest?.status === "pending") await call("POST", `${running.project}/builds/${newest.id}/cancel`);
}

const freeDomain = () => clear(`${running.project}/domains`, () => true, "domain");
const noMember = () => clear(`${organization()}/members`, ({ email }) => email === "ada@example.com", "id");
const member = async () => {
  await noMember();
  return { userId: (await made(`${organization()}/members`, { email: "ada@example.com", role: "member" })).member.id };
};
const project = async () => ({ projectId: (await made(`${organization()}/projects`, { name: "Shop" })).project.id });
const database = async () => ({ dbId: (await made(`${organization()}/databases`, { name: "Shop" })).database.id });
const ownStorage = async () => ({ storageId: (await made(`${organization()}/storages`, { name: "Shop" })).storage.id });
const noVariable = () => clear(`${running.project}/environments`, ({ name }) => name === "GREETING", "id");
const variable = async () => {
  await noVariable();
  return { envId: (await made(`${running.project}/environments`, { name: "GREETING", value: "" })).environment.id };
};
const noKeys = () => clear(`${running.project}/credentials`, () => true, "id");
const noTable = () => clear(tables(), ({ name }) => name === "notes", "name");
const table = async () => {
  await noTable();
  await made(tables(), { name: "notes", columns: [{ name: "text", type: "string" }] });
  return { tableName: "notes" };
};
const row = async () => ({
  ...(await table()),
  rowId: (await made(`${tables()}/notes/rows`, { row: { text: "" } })).row.id,
});
const file = async () => ({
  fileId: (await made(`${storage()}/files`, { files: [{ name: "a", mime: "text/plain" }] })).files[0].id,
});
const build = async () => {
  await endBuild();
  return { buildId: (await made(`${running.project}/builds`, {})).build.id };
};

/** What a sample needs to be there, or not to be there. The other operations need nothing. */
const preparations: Partial<Record<RouteId, () => Promise<Ids> | Promise<undefined>>> = {
  "delete-token": async () => ({ tokenId: (await made("/me/tokens", {})).token.id }),
  "create-member": noMember,
  "update-member": member,
  "delete-member": member,
  "delete-project": project,
  "create-domain": freeDomain,
  "delete-domain": async () => {
    await freeDomain();
    return { domain: (await made(`${running.project}/domains`, { domain: "www.example.com" })).domain.domain };
  },
  "create-build": endBuild,
  "cancel-build": build,
  "get-build": build,
  "list-build-logs": build,
  rebuild: endBuild,
  "redeploy-build": endBuild,
  "create-credential": noKeys,
  "delete-credential": async () => {
    await noKeys();
    return { credentialId: String((await made(`${running.project}/credentials`, {})).credential.id) };
  },
  "create-environment": noVariable,
  "update-environment": variable,
  "delete-environment": variable,
  "delete-database": database,
  "create-table": noTable,
  "update-table": table,
  "delete-table": table,
  "list-rows": table,
  "create-row": table,
  "get-row": row,
  "update-row": row,
  "delete-row": row,
  "delete-storage": ownStorage,
  "get-file": file,
  "delete-file": file,
  "delete-console-sessions": async () => {
    bearer = await signIn();
    return {};
  },
  "end-console-session": async () => {
    await signIn();
    const { sessions } = (await call("GET", "/me/sessions")).body;
    return { sessionId: sessions.find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent).id };
  },
};

/** The samples that a page of the console has to complete, with the refusal that shows that they arrived; else a success. */
const refusals: Partial<Record<RouteId, number>> = {
  // The newest successful build is the one that serves.
  "redeploy-build": 409,
  "create-console-session": 401,
  "get-console-session": 401,
  "create-passkey": 400,
  "sign-in-with-passkey": 401,
  "delete-passkey": 404,
  "connect-tool": 401,
};

beforeAll(async () => {
  running = await startRunning();
  bearer = await signIn();
  const { organizationId, projectId, databaseId, storageId } = running.seed;
  const { id } = await deploy(running, nodeApp('res.end("hello")'));
  ids = { orgId: organizationId, projectId, dbId: databaseId, storageId, buildId: id, passkeyId: "unknown" };
}, 60_000);
afterAll(() => running.stop());

/** Sessions are for keys; every other sample is for a user, who may do what a key may, and more. */
const isForKey = ({ id }: Operation) => id === "create-session";

async function byCurl(operation: Operation, own: Ids): Promise<number> {
  const { baseUrl, accessKey, secretKey } = running.seed;
  const token = isForKey(operation) ? `${accessKey}:${secretKey}` : bearer;
  const env = { PATH: process.env.PATH, SLIPWAY_URL: baseUrl, SLIPWAY_TOKEN: token, ...own };
  const words = `${curlSample(operation)} -s -o /dev/null -w '%{http_code}'`;
  return Number((await run("bash", [...plain, words], { env })).stdout);
}

async function bySdk(operation: Operation, own: Ids): Promise<number> {
  const { baseUrl, accessKey, secretKey } = running.seed;
  const login = isForKey(operation) ? { accessKey, secretKey } : { token: bearer };
  const code = `return (async () => { ${sdkSample(operation)} })();`;
  const sample = new Function("slipway", ...Object.keys(own), code);
  try {
    await sample(new Slipway({ baseUrl, ...login }), ...Object.values(own));
    return Number(operation.status);
  } catch (error) {
    if (error instanceof SlipwayError && error.status !== undefined) return error.status;
    throw error;
  }
}

async function byCommandLine(operation: Operation, own: Ids): Promise<{ code: number | null; output: string }> {
  const script = `slipway() { printf '%s\\0' "$@"; }; ${cliSample(operation)}`;
  const { stdout } = await run("bash", [...plain, script], { env: { PATH: process.env.PATH, ...own } });
  const words = stdout.split("\0").slice(0, -1);
  const { baseUrl, accessKey, secretKey, organizationId, projectId } = running.seed;
  const login: Record<string, string> = isForKey(operation)
    ? { SLIPWAY_ACCESS_KEY: accessKey, SLIPWAY_SECRET_KEY: secretKey }
    : { SLIPWAY_TOKEN: bearer };
  const environment = {
    SLIPWAY_URL: baseUrl,
    SLIPWAY_CONFIG: running.home,
    SLIPWAY_ORGANIZATION: organizationId,
    SLIPWAY_PROJECT: projectId,
    ...login,
  };
  const { code, stdout: result, stderr } = await commandLine(words, { environment, workingFolder: running.home });
  return { code, output: result + stderr };
}

const { operations } = operationsOf(openApi());
const prepared = async (id: string) => ({ ...ids, ...(await preparations[id as RouteId]?.()) });

test("every operation has samples", () => {
  expect(operations.map(({ id }) => id).toSorted()).toEqual(routes.map(({ id }) => id).toSorted());
});

/** SLIPWAY_TESTS=all runs the samples of all three; otherwise those of one in turn. */
const isEverything = process.env.SLIPWAY_TESTS === "all";

// Deleting all sessions ends the one that the others use.
const inOrder = operations.toSorted(
  (a, b) => Number(a.id === "delete-console-sessions") - Number(b.id === "delete-console-sessions"),
);

test.each(inOrder.map((operation) => [operation.id, operation] as const))(
  "%s: its samples work",
  async (id, operation) => {
    const expected = refusals[id as RouteId] ?? Number(operation.status);
    const turn = inOrder.indexOf(operation) % 3;
    const isRun = (tool: number) => isEverything || tool === turn;
    if (isRun(0)) expect(await byCurl(operation, await prepared(id))).toBe(expected);
    if (isRun(1)) expect(await bySdk(operation, await prepared(id))).toBe(expected);
    if (!isRun(2)) return;
    const { code, output } = await byCommandLine(operation, await prepared(id));
    expect([code, code === 0 ? "" : output]).toEqual(
      expected < 400 ? [0, ""] : [1, expect.stringMatching(/"status": "[A-Z]/)],
    );
  },
);

test("the SDK's README deploys a folder, without what .gitignore names", async () => {
  // The samples have ended all sessions.
  bearer = await signIn();
  await endBuild();
  const { baseUrl, accessKey, secretKey, organizationId, projectId } = running.seed;
  const readme = readFileSync(new URL("../../sdk/README.md", import.meta.url), "utf8");
  const sample = /```js\n(const \{ build, endpoints \} = await slipway\.deploy\([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  using folder = folderWith({
    "package.json": '{"scripts":{"start":"node server.js"}}',
    "server.js": `const files = require("node:fs").readdirSync(__dirname).sort().join();
      require("node:http").createServer((request, response) => response.end(files)).listen(process.env.PORT);`,
    ".gitignore": "notes.txt",
    "notes.txt": "",
    ".env": "",
  });
  const code = `return (async () => { ${sample.replace('"./app"', "folder")}; return { build, endpoints }; })();`;
  const run = new Function("slipway", "folder", "orgId", "projectId", "console", code);
  const stages = new Set<string>();
  const slipway = new Slipway({ baseUrl, accessKey, secretKey });
  const log = (stage: string) => void stages.add(stage);
  const { build, endpoints } = await run(slipway, folder.path, organizationId, projectId, { log });
  expect([build.status, [...stages].at(-1)]).toEqual(["ready", "ready"]);
  expect(await (await fetch(endpoints[0])).text()).toBe(".gitignore,package.json,server.js");

  const builds = async () => (await call("GET", `${running.project}/builds`)).body.builds.length;
  const before = await builds();
  using empty = folderWith({ ".env": "" });
  for (const path of [empty.path, `${empty.path}/missing`]) {
    const refused = slipway.deploy(path, { orgId: organizationId, projectId });
    await expect(refused).rejects.toMatchObject({ name: "SlipwayError", code: "folder_refused" });
  }
  expect(await builds()).toBe(before);
});
