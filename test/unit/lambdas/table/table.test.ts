import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { isTransient } from "../../../../lambdas/aws/transient.ts";
import { documentClient } from "../../../../lambdas/table/client.ts";
import { absent, entity } from "../../../../lambdas/table/entity.ts";
import { type TableReader, tableReader } from "../../../../lambdas/table/reader.ts";
import { type RowUpdater, rowUpdater } from "../../../../lambdas/table/updater.ts";
import { type TableWriter, tableWriter } from "../../../../lambdas/table/writer.ts";

interface Received {
  target: string;
  body: {
    ClientRequestToken?: string;
    TransactItems?: object[];
    RequestItems?: Record<string, { Keys: object[] }>;
  };
  port: number | undefined;
}

let received: Received[];
/** The server's behavior for the n-th request, from 0. */
let behave: (n: number, response: ServerResponse) => void;
let server: Server;
let table: TableReader & TableWriter & RowUpdater;
const names = ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;
const kept = names.map((name) => [name, process.env[name]] as const);

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

beforeEach(async () => {
  received = [];
  behave = (_, response) => answer(response, 200, {});
  server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request));
    received.push({ target: String(request.headers["x-amz-target"]), body, port: request.socket.remotePort });
    behave(received.length - 1, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env.AWS_ENDPOINT_URL_DYNAMODB = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.env.AWS_REGION = "eu-central-1";
  process.env.AWS_ACCESS_KEY_ID = "AKIAEXAMPLE";
  process.env.AWS_SECRET_ACCESS_KEY = "secret";
  table = connect();
});
afterEach(async () => {
  for (const [name, value] of kept) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function answer(response: ServerResponse, status: number, body: object | string): void {
  response.writeHead(status, { "content-type": "application/x-amz-json-1.0" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}
const refusal = (name: string) => ({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "injected" });
function connect(silenceMs?: number): TableReader & TableWriter & RowUpdater {
  const client = documentClient(silenceMs);
  return { ...tableReader(client, "rows"), ...tableWriter(client, "rows"), ...rowUpdater(client, "rows") };
}

const Thing = entity(
  () => z.object({ name: z.string(), size: z.int().optional() }),
  (k: { id: string }) => ({ pk: "THINGS", sk: `THING#${k.id}` }),
  (_: object) => ({ pk: "THINGS", prefix: "THING#" }),
);
const aPut = Thing.put({ id: "b" }, { name: "ü", size: undefined }, { pk: absent });
/** A row as DynamoDB writes it. */
const storedRow = { pk: { S: "THINGS" }, sk: { S: "THING#b" }, name: { S: "ü" }, size: { N: "2" } };
const row = { name: "ü", size: 2 };

test("calls go over one connection that is kept, and rows have the names that were asked for", async () => {
  behave = (_, response) => answer(response, 200, { Responses: { rows: [storedRow] } });
  for (let n = 0; n < 3; n += 1) {
    const places = { there: Thing.at({ id: "b" }), missing: Thing.at({ id: "c" }), unasked: undefined };
    expect(await table.read(places)).toEqual({ there: row, missing: undefined });
  }
  expect(received.map(({ target }) => target)).toEqual(Array(3).fill("DynamoDB_20120810.BatchGetItem"));
  expect(new Set(received.map(({ port }) => port)).size).toBe(1);
});

test("a write leaves out what is undefined and asks for the row in its way", async () => {
  await table.write({ aPut, nothing: undefined });
  expect(received[0]?.body.TransactItems).toEqual([
    {
      Put: {
        TableName: "rows",
        Item: { pk: { S: "THINGS" }, sk: { S: "THING#b" }, name: { S: "ü" } },
        ConditionExpression: "attribute_not_exists(#pk)",
        ExpressionAttributeNames: { "#pk": "pk" },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      },
    },
  ]);
});

test.each([
  ["throttling", (response: ServerResponse) => answer(response, 400, refusal("ThrottlingException"))],
  ["a fault of DynamoDB's", (response: ServerResponse) => answer(response, 500, refusal("InternalServerError"))],
  ["something between that answers for it", (response: ServerResponse) => answer(response, 503, "<html>busy</html>")],
  ["a connection that breaks", (response: ServerResponse) => response.socket?.destroy()],
  [
    "an answer that breaks off",
    (response: ServerResponse) =>
      response.writeHead(200, { "content-length": 9 }).write("{", () => response.socket?.destroy()),
  ],
  [
    "a conflict with another transaction",
    (response: ServerResponse) => answer(response, 400, canceled([{ Code: "TransactionConflict" }])),
  ],
])("%s is tried again, a transaction under the same token", async (_, fault) => {
  behave = (n, response) => (n < 2 ? fault(response) : answer(response, 200, {}));
  expect(await table.write({ aPut })).toEqual({ ok: true });
  const tokens = received.map(({ body }) => body.ClientRequestToken);
  expect(tokens).toEqual(Array(3).fill(expect.stringMatching(/^[\w-]{36}$/)));
  expect(new Set(tokens).size).toBe(1);
  await table.write({ aPut });
  expect(received.at(-1)?.body.ClientRequestToken).not.toBe(tokens[0]);
});

test("rows of any number are read, a hundred at a time", async () => {
  const ids = Array.from({ length: 1_001 }, (_, n) => String(n));
  await table.read(Object.fromEntries(ids.map((id) => [id, Thing.at({ id })])));
  expect(received.map(({ body }) => body.RequestItems?.rows?.Keys.length)).toEqual([...Array(10).fill(100), 1]);
});

test("keys that stay unprocessed are asked for again, alone", async () => {
  const places = { one: Thing.at({ id: "b" }), other: Thing.at({ id: "c" }) };
  const left = { rows: { Keys: [{ pk: { S: "THINGS" }, sk: { S: "THING#c" } }] } };
  behave = (n, response) =>
    answer(response, 200, n === 0 ? { Responses: { rows: [storedRow] }, UnprocessedKeys: left } : {});
  expect(await table.read(places)).toEqual({ one: row, other: undefined });
  expect(received.map(({ body }) => body.RequestItems?.rows?.Keys.length)).toEqual([2, 1]);
});

test("an answer that does not come, or stops half way, is not waited for", async () => {
  table = connect(200);
  behave = (n, response) => {
    if (n === 1) response.writeHead(200, { "content-length": 9 }).write("{");
    else if (n > 1) answer(response, 200, {});
  };
  expect(await table.list(Thing.list({}, { limit: 5 }))).toEqual({ rows: [], more: false });
  expect(received).toHaveLength(3);
});

test("four attempts are the most", async () => {
  behave = (_, response) => answer(response, 500, refusal("InternalServerError"));
  await expect(table.read({ one: Thing.at({ id: "b" }) })).rejects.toMatchObject({
    name: "InternalServerError",
    $fault: "server",
  });
  expect(received).toHaveLength(4);
});

const canceled = (CancellationReasons: object[]) => ({
  ...refusal("TransactionCanceledException"),
  Message: "no",
  CancellationReasons,
});

test("a refusal is not tried again, names the write and gives the row in its way", async () => {
  const reasons = [{ Code: "None" }, { Code: "ConditionalCheckFailed", Item: storedRow }];
  behave = (_, response) => answer(response, 400, canceled(reasons));
  const outcome = await table.write({ first: Thing.delete({ id: "a" }), nothing: undefined, second: aPut });
  expect(outcome).toEqual({ ok: false, failed: { second: { old: row } } });
  expect(received).toHaveLength(1);
});

test("an update gives the row after it, or the row in its way, and outlasts a conflict", async () => {
  const update = Thing.update({ id: "b" }, { set: { size: 2 } }, { name: "ü" });
  behave = (n, response) => {
    if (n === 0) answer(response, 400, refusal("TransactionConflictException"));
    else if (n === 1) answer(response, 200, { Attributes: storedRow });
    else answer(response, 400, { ...refusal("ConditionalCheckFailedException"), Item: storedRow });
  };
  expect(await table.update(update)).toEqual({ ok: true, row });
  expect(await table.update(update)).toEqual({ ok: false, old: row });
  expect(received.map(({ target }) => target)).toEqual(Array(3).fill("DynamoDB_20120810.UpdateItem"));
});

test("an answer that is not JSON is told without a word of it", async () => {
  behave = (_, response) => answer(response, 200, "the row's secret");
  const error = await table.read({ one: Thing.at({ id: "b" }) }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "UnreadableAnswer", message: "DynamoDB's answer could not be read" });
  expect(isTransient(error)).toBe(true);
});
