import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DynamoDb, startDynamoDb } from "../../local/dynamodb/server.ts";
import { countedHeader, followRequests } from "../harness/counted-calls.ts";
import { type DynamoProxy, startDynamoProxy } from "../harness/dynamodb.ts";
import { type Running, startRunning } from "../harness/service.ts";

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
  });
  afterAll(async () => {
    await running.stop();
    await proxy.close();
    await database.close();
  });

  /** The calls of one request, without the updates that it records on the side. */
  async function counted(method: string, path: string, body?: unknown) {
    const name = randomUUID();
    proxy.delayMs = 60;
    const answer = await running.call(method, path, {
      headers: { [countedHeader]: name },
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
    return { answer, depth, operations: calls.map((call) => call.operation) };
  }

  test("a poll is one batch", async () => {
    const created = await running.call("POST", `${running.project}/builds`);
    const id = created.body.build.id;
    const poll = await counted("GET", `${running.project}/builds/${id}`);
    expect(poll).toMatchObject({ depth: 1, operations: ["BatchGetItem"] });
    const cancel = await counted("POST", `${running.project}/builds/${id}/cancel`);
    expect(cancel).toMatchObject({ depth: 2, operations: ["BatchGetItem", "TransactWriteItems"] });
  });

  test("creating a build is one transaction, and so is the 409 that names the running one", async () => {
    const created = await counted("POST", `${running.project}/builds`, { title: "one" });
    expect(created.answer.status).toBe(201);
    expect(created).toMatchObject({ depth: 1, operations: ["TransactWriteItems"] });
    const refused = await counted("POST", `${running.project}/builds`);
    expect(refused.answer.status).toBe(409);
    expect(refused.answer.body.build.id).toBe(created.answer.body.build.id);
    expect(refused).toMatchObject({ depth: 1, operations: ["TransactWriteItems"] });
    await running.call("POST", `${running.project}/builds/${created.answer.body.build.id}/cancel`);
  });

  test("a new key and a new variable are one transaction each", async () => {
    const key = await counted("POST", `${running.project}/credentials`);
    expect(key).toMatchObject({ depth: 1, operations: ["TransactWriteItems"] });
    const variable = await counted("POST", `${running.project}/environments`, { name: "A", value: "b" });
    expect(variable).toMatchObject({ depth: 1, operations: ["TransactWriteItems"] });
  });

  test.each([
    ["GET", "/ping", ["BatchGetItem"]],
    ["GET", "/organizations", ["BatchGetItem"]],
    ["GET", "PROJECT/endpoints", ["BatchGetItem"]],
    ["GET", "PROJECT/credentials", ["BatchGetItem"]],
    ["GET", "PROJECT/builds", ["BatchGetItem", "Query"]],
    ["GET", "PROJECT/environments", ["BatchGetItem", "Query"]],
  ])("%s %s has depth 1", async (method, path, operations) => {
    const seen = await counted(method, path.replace("PROJECT", running.project));
    expect(seen.answer.status).toBe(200);
    expect(seen.depth).toBe(1);
    expect(seen.operations.sort()).toEqual(operations);
  });

  test("a credential of the wrong shape costs no call at all", async () => {
    const headers = { [countedHeader]: "malformed" };
    const answer = await running.call("GET", "/ping", { bearer: "slk_wrong:sls_wrong", headers });
    expect(answer.status).toBe(401);
    expect(proxy.calls.filter((call) => call.countedFor === "malformed")).toEqual([]);
  });
});
