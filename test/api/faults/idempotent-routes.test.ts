import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RouteId, routes } from "../../../api/index.ts";
import { deploy, nodeApp } from "../../harness/app.ts";
import type { Answer, Running } from "../../harness/service.ts";
import { type Guarded, startGuarded } from "./guarded-service.ts";

/** A request that creates something, and the created resource in its response. */
interface Repeatable {
  path(running: Running): Promise<string> | string;
  body?: object;
  /** The route is for users: called with the personal access token instead of the key. */
  user?: true;
  made(body: Answer["body"]): unknown;
}

const organization = ({ seed }: Running) => `/organizations/${seed.organizationId}`;
const tables = (running: Running) => `${organization(running)}/databases/${running.seed.databaseId}/tables`;
const build = (body: Answer["body"]) => body.build.id;

/** `safe`: repeating it changes nothing more. `always new`: each answer is a secret of its own. */
const scenarios = {
  ping: "safe",
  "list-organizations": "safe",
  "create-organization": {
    path: () => "/organizations",
    body: { name: "A" },
    user: true,
    made: (body) => body.organization,
  },
  "get-organization": "safe",
  "update-organization": "safe",
  "delete-project": "safe",
  "delete-database": "safe",
  "delete-storage": "safe",
  "list-members": "safe",
  "create-member": {
    path: (running) => `${organization(running)}/members`,
    body: { email: "repeated@example.com", role: "member" },
    user: true,
    made: (body) => body.member,
  },
  "update-member": "safe",
  "delete-member": "safe",
  "get-me": "safe",
  "list-tokens": "safe",
  "create-token": { path: () => "/me/tokens", body: { description: "A" }, user: true, made: (body) => body.token.id },
  "delete-token": "safe",
  "list-projects": "safe",
  "create-project": {
    path: (running) => `${organization(running)}/projects`,
    body: { name: "A" },
    made: (body) => body.project,
  },
  "get-project": "safe",
  "update-project": "safe",
  "set-managers": "safe",
  "list-domains": "safe",
  "create-domain": {
    path: ({ project }) => `${project}/domains`,
    body: { domain: "repeated.example.com" },
    made: (body) => body.domain,
  },
  "delete-domain": "safe",
  "list-databases": "safe",
  "create-database": {
    path: (running) => `${organization(running)}/databases`,
    body: { name: "A" },
    made: (body) => body.database,
  },
  "update-database": "safe",
  "create-storage": {
    path: (running) => `${organization(running)}/storages`,
    body: { name: "A" },
    made: (body) => body.storage,
  },
  "update-storage": "safe",
  "create-session": "always new",
  "list-endpoints": "safe",
  "list-builds": "safe",
  "create-build": { path: ({ project }) => `${project}/builds`, body: { title: "one" }, made: build },
  "get-build": "safe",
  "list-build-logs": "safe",
  "list-app-logs": "safe",
  "get-metrics": "safe",
  "cancel-build": {
    async path(running) {
      const { body } = await running.call("POST", `${running.project}/builds`);
      return `${running.project}/builds/${body.build.id}/cancel`;
    },
    made: (body) => body.build.canceledAt,
  },
  rebuild: { path: ({ project }) => `${project}/rebuild`, made: build },
  "redeploy-build": {
    async path(running) {
      const { body } = await running.call("GET", `${running.project}/builds`);
      const target = body.builds.find(({ canRedeploy }: { canRedeploy: boolean }) => canRedeploy);
      return `${running.project}/builds/${target.id}/redeploy`;
    },
    made: build,
  },
  "list-credentials": "safe",
  "create-credential": { path: ({ project }) => `${project}/credentials`, made: (body) => body.credential.access },
  "delete-credential": "safe",
  "list-environments": "safe",
  "create-environment": {
    path: ({ project }) => `${project}/environments`,
    body: { name: "A", value: "b" },
    made: (body) => body.environment.id,
  },
  "update-environment": "safe",
  "delete-environment": "safe",
  "list-events": "safe",
  "create-console-session": "always new",
  "get-console-session": "safe",
  "delete-console-session": "safe",
  "list-console-sessions": "safe",
  "begin-passkey": "always new",
  "create-passkey": "safe",
  "begin-passkey-sign-in": "always new",
  "sign-in-with-passkey": "always new",
  "create-connection-code": "always new",
  "connect-tool": "always new",
  "list-passkeys": "safe",
  "delete-passkey": "safe",
  "end-console-session": "safe",
  "delete-console-sessions": "safe",
  "list-storages": "safe",
  "list-files": "safe",
  "create-files": {
    path: (running) => `${organization(running)}/storages/${running.seed.storageId}/files`,
    body: { files: [{ name: "a", mime: "text/plain" }] },
    made: (body) => body.files[0].id,
  },
  "get-file": "safe",
  "delete-file": "safe",
  "list-tables": "safe",
  "create-table": {
    path: tables,
    body: { name: "repeated", columns: [{ name: "a", type: "integer" }] },
    made: (body) => body.table,
  },
  "update-table": "safe",
  "delete-table": "safe",
  "list-rows": "safe",
  "create-row": {
    path: (running) => `${tables(running)}/repeated/rows`,
    body: { row: { a: 1 } },
    made: (body) => body.row.id,
  },
  "get-row": "safe",
  "update-row": "safe",
  "delete-row": "safe",
} satisfies Record<RouteId, Repeatable | "safe" | "always new">;

const repeatable = Object.entries<Repeatable | "safe" | "always new">(scenarios).filter(
  (entry): entry is [string, Repeatable] => typeof entry[1] === "object",
);

test("the routes with a scenario are those that declare what another body answers", () => {
  const declared = routes.filter(({ definition }) => definition.errors.includes("idempotency_mismatch"));
  expect(repeatable.map(([id]) => id).sort()).toEqual(declared.map(({ id }) => id).sort());
});

describe("a repeated Idempotency-Key", () => {
  let guarded: Guarded;
  let running: Running;
  beforeAll(async () => {
    guarded = await startGuarded();
    running = guarded.running;
    for (const text of ["one", "two"]) {
      expect((await deploy(running, nodeApp(`res.end("${text}")`))).status).toBe("ready");
    }
    // The database starts with its first use, which is slow on a busy machine.
    expect((await running.call("GET", tables(running))).status).toBe(200);
  }, 60_000);
  afterAll(() => guarded.stop());

  test.each(repeatable)("gives what %s made, and 422 for another body", async (id, { path, body, user, made }) => {
    const key = randomUUID();
    const target = await path(running);
    const send = (text: string | undefined) =>
      running.call("POST", target, {
        headers: { "idempotency-key": key },
        ...(user && { bearer: running.seed.token }),
        ...(text !== undefined && { text }),
      });
    const text = body && JSON.stringify(body);
    const answers = [await send(text), await send(text)];
    const { status } = routes.find((route) => route.id === id)?.definition ?? {};
    expect(answers.map((answer) => answer.status)).toEqual([status, status]);
    const [first, again] = answers.map((answer) => made(answer.body));
    expect(again).toEqual(first);
    expect(await send(JSON.stringify({ ...body, another: true }))).toMatchObject({
      status: 422,
      body: { code: "idempotency_mismatch" },
    });
    const started = answers[0]?.body.build;
    if (started?.status === "pending" && !started.canceledAt)
      await running.call("POST", `${running.project}/builds/${started.id}/cancel`);
  });

  test("gives a stored table or row whose answer could not be recorded, and stores it once", async () => {
    const requests = [
      [tables(running), { name: "once", columns: [{ name: "a", type: "string" }] }],
      [`${tables(running)}/once/rows`, { row: { a: "x" } }],
    ] as const;
    for (const [path, body] of requests) {
      const headers = { "idempotency-key": randomUUID() };
      let refused = 0;
      guarded.gate.before = (call) => {
        if (!call.body.includes("IDEM#") || call.operation === "BatchGetItem") return undefined;
        refused += 1;
        return { kind: "refuse", name: "AccessDeniedException", status: 400 };
      };
      const first = await running.call("POST", path, { headers, body });
      guarded.gate.before = undefined;
      expect(refused).toBe(1);
      expect(first.status).toBe(201);
      expect((await running.call("POST", path, { headers, body })).body).toEqual(first.body);
    }
    expect((await running.call("GET", `${tables(running)}/once/rows`)).body.rows).toHaveLength(1);
  });
});
