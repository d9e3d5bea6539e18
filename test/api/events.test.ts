import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Event } from "../../lambdas/http/model/event.ts";
import { documentClient } from "../../lambdas/table/client.ts";
import { tableWriter } from "../../lambdas/table/writer.ts";
import { type DynamoDb, startDynamoDb } from "../../local/dynamodb/server.ts";
import { type DynamoProxy, startDynamoProxy } from "../harness/dynamodb.ts";
import { type Running, startRunning } from "../harness/service.ts";

interface Seen {
  id: string;
  at: string;
  action: string;
  actor: Record<string, string>;
  ids: Record<string, string | string[]>;
  outcome: string;
}

describe("the events of an organization", () => {
  let database: DynamoDb;
  let proxy: DynamoProxy;
  let running: Running;
  let events: string;
  let environments: string;
  let files: string;
  let tables: string;

  beforeAll(async () => {
    const home = mkdtempSync(join(tmpdir(), "slipway-events-"));
    database = await startDynamoDb({ file: join(home, "events.db"), tableName: "slipway" });
    proxy = await startDynamoProxy(database.endpoint);
    process.env.AWS_ENDPOINT_URL_DYNAMODB = proxy.endpoint;
    running = await startRunning();
    const { organizationId, storageId, databaseId } = running.seed;
    events = `/organizations/${organizationId}/events`;
    environments = `${running.project}/environments`;
    files = `/organizations/${organizationId}/storages/${storageId}/files`;
    tables = `/organizations/${organizationId}/databases/${databaseId}/tables`;
    // The first call starts PostgreSQL, which on a busy machine takes longer than a test may.
    expect((await running.call("GET", tables)).status).toBe(200);
  }, 60_000);
  afterAll(async () => {
    await running.stop();
    await proxy.close();
    await database.close();
  });

  const newest = async (limit = 1): Promise<Seen[]> =>
    (await running.call("GET", `${events}?limit=${limit}`)).body.events;

  test("tell who changed what, newest first, and contain no value", async () => {
    const { projectId, accessKey, token } = running.seed;
    const body = { name: "HIDDEN_NAME", value: "hidden value" };
    const made = await running.call("POST", environments, { body });
    const envId = made.body.environment.id;
    await running.call("PUT", `${environments}/${envId}`, { body: { value: "other hidden value" }, bearer: token });
    const { body: opened } = await running.call("POST", "/sessions");
    await running.call("DELETE", `${environments}/${envId}`, { bearer: opened.session.token });
    const [deleted, updated, created] = await newest(3);
    expect(created).toMatchObject({ action: "create-environment", actor: { kind: "key", access: accessKey } });
    expect(created).toMatchObject({ ids: { projectId, environmentId: envId }, outcome: "done" });
    expect(updated).toMatchObject({ action: "update-environment", ids: { projectId, envId } });
    expect(updated?.actor).toEqual({
      kind: "user",
      userId: expect.stringMatching(/^usr_/),
      tokenId: expect.stringMatching(/^tok_/),
    });
    expect(deleted).toMatchObject({ action: "delete-environment", ids: { projectId, envId } });
    expect(deleted?.actor).toEqual({ kind: "key", access: accessKey, sessionId: expect.any(String) });
    expect(Date.parse(deleted?.at ?? "")).toBeGreaterThanOrEqual(Date.parse(created?.at ?? ""));
    expect(JSON.stringify([deleted, updated, created])).not.toMatch(/hidden/i);
  });

  test("contain a new key's id and access, never its secret", async () => {
    const { body } = await running.call("POST", `${running.project}/credentials`);
    const [created] = await newest();
    expect(created).toMatchObject({ action: "create-credential", ids: { credentialId: String(body.credential.id) } });
    expect(JSON.stringify(created)).not.toContain(body.credential.secret);
    await running.call("DELETE", `${running.project}/credentials/${body.credential.id}`);
  });

  test("are not written by reads, by refused requests, and by a repeated request with its key", async () => {
    const headers = { "idempotency-key": "once" };
    const once = { headers, body: { name: "ONCE", value: "" } };
    expect((await running.call("POST", environments, once)).status).toBe(201);
    const before = await newest();
    expect((await running.call("POST", environments, once)).status).toBe(201);
    expect((await running.call("POST", environments, { body: { name: "ONCE", value: "" } })).status).toBe(409);
    expect((await running.call("POST", environments, { body: { name: "" } })).status).toBe(400);
    expect((await running.call("DELETE", `${environments}/env_00000000000000000000000000`)).status).toBe(404);
    expect((await running.call("GET", environments)).status).toBe(200);
    expect(await newest()).toEqual(before);
  });

  test("name the hundred files of one request, which fill its transaction, with and without an Idempotency-Key", async () => {
    const body = { files: Array.from({ length: 100 }, (_, n) => ({ name: `${n}`, mime: "text/plain" })) };
    for (const key of [undefined, "hundred"]) {
      const headers = key === undefined ? {} : { headers: { "idempotency-key": key } };
      const { body: made } = await running.call("POST", files, { body, ...headers });
      const [created] = await newest();
      expect(created).toMatchObject({ action: "create-files", outcome: "done" });
      const ids = made.files.map((one: { id: string }) => one.id);
      expect(created?.ids.fileIds).toEqual(ids);
    }
    const few = await running.call("POST", files, {
      body: { files: body.files.slice(0, 99) },
      headers: { "idempotency-key": "99" },
    });
    expect(few.status).toBe(201);
    const [created] = await newest();
    expect(created?.ids.fileIds).toHaveLength(99);
  });

  test("page by a cursor of this list, and no other cursor or limit is accepted", async () => {
    const all = await newest(100);
    const seen: Seen[] = [];
    let cursor = "";
    do {
      const { body } = await running.call("GET", `${events}?limit=3${cursor}`);
      expect(body.events.length).toBeLessThanOrEqual(3);
      seen.push(...body.events);
      cursor = body.nextCursor ? `&cursor=${body.nextCursor}` : "";
    } while (cursor !== "");
    expect(seen).toEqual(all);
    expect(seen.length).toBeGreaterThan(6);
    const { body: builds } = await running.call("GET", `${files}?limit=1`);
    for (const query of ["limit=0", "limit=101", "limit=x", "cursor=", "cursor=xyz", `cursor=${builds.nextCursor}`]) {
      expect([query, (await running.call("GET", `${events}?${query}`)).status]).toEqual([query, 400]);
    }
  });

  test("older than a year are not shown, whether DynamoDB has deleted them or not", async () => {
    const ownerId = running.seed.organizationId;
    const all = await newest(100);
    const id = "evt_00000000000000000000000000";
    const row = {
      ...all[0],
      id,
      ownerId,
      at: "2020-01-01T00:00:00.000Z",
      expiresAt: "2021-01-01T00:00:00.000Z",
      ttl: 1,
    };
    const kept = { ...row, id: "evt_00000000010000000000000000", expiresAt: "2999-01-01T00:00:00.000Z" };
    const writer = tableWriter(documentClient(), "slipway");
    const write = (one: object) => writer.write({ one: Event.put({ ownerId, ...(one as Seen) }, one as never) });
    await write(row);
    expect(await newest(100)).toEqual(all);
    await write(kept);
    expect((await newest(100)).map((one) => one.id)).toEqual([...all.map((one) => one.id), kept.id]);
  });

  test("tell a table's change before it is made, and its outcome after", async () => {
    const table = { name: "things", columns: [{ name: "title", type: "string" }] };
    await running.call("DELETE", `${tables}/things`);
    expect((await running.call("POST", tables, { body: table })).status).toBe(201);
    expect(await newest()).toMatchObject([{ action: "create-table", ids: { tableName: "things" }, outcome: "done" }]);
    expect((await running.call("POST", tables, { body: table })).status).toBe(409);
    expect(await newest()).toMatchObject([{ action: "create-table", outcome: "refused" }]);
    const before = await newest();
    const dry = await running.call("PUT", `${tables}/things?dryRun=true`, { body: { comment: "x" } });
    expect([dry.status, await newest()]).toEqual([200, before]);
    expect((await running.call("PUT", `${tables}/things`, { body: { comment: "x" } })).status).toBe(200);
    expect(await newest()).toMatchObject([{ action: "update-table", ids: { tableName: "things" }, outcome: "done" }]);
  });

  test("are not written for rows of tables", async () => {
    const before = await newest();
    const made = await running.call("POST", `${tables}/things/rows`, { body: { row: { title: "x" } } });
    const row = `${tables}/things/rows/${made.body.row.id}`;
    expect([made.status, (await running.call("DELETE", row)).status]).toEqual([201, 200]);
    expect(await newest()).toEqual(before);
  });

  test("a table is not changed when its event cannot be recorded, and changed when only the outcome cannot be", async () => {
    // Requests with a session do not record the use of a key, which is an update too.
    const bearer = (await running.call("POST", "/sessions")).body.session.token;
    const failFrom = (first: number) => {
      let updates = 0;
      proxy.fault = (operation) => {
        if (operation !== "UpdateItem") return undefined;
        updates += 1;
        return updates >= first ? { kind: "error", name: "InternalServerError", status: 500 } : undefined;
      };
    };
    failFrom(1);
    expect((await running.call("DELETE", `${tables}/things`, { bearer })).status).toBe(503);
    proxy.fault = undefined;
    expect((await running.call("GET", tables)).body.tables).toHaveLength(1);
    failFrom(2);
    expect((await running.call("DELETE", `${tables}/things`, { bearer })).status).toBe(200);
    proxy.fault = undefined;
    expect(await newest()).toMatchObject([{ action: "delete-table", outcome: "unknown" }]);
    expect((await running.call("GET", tables)).body.tables).toEqual([]);
  });
});
