import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isTransient } from "../../../../lambdas/aws/transient.ts";
import { absent } from "../../../../lambdas/table/entity.ts";
import { connectTable, type TableReader, type TableWriter } from "../../../../lambdas/table/table.ts";

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
/** What the far end does with the n-th request, from 0 on. */
let behave: (n: number, response: ServerResponse) => void;
let server: Server;
let table: TableReader & TableWriter;
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
  table = connectTable("rows");
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
const aKey = { pk: "a", sk: "b" };
const aWrite = { kind: "put", key: aKey, item: { name: "ü", gone: undefined }, when: { pk: absent } } as const;
const aQuery = { pk: "a", prefix: "b", limit: 5 };
/** A row as DynamoDB writes it. */
const storedRow = { pk: { S: "a" }, sk: { S: "b" }, name: { S: "ü" }, size: { N: "2" } };

test("calls go over one connection that is kept, and rows come as plain values", async () => {
  behave = (_, response) => answer(response, 200, { Responses: { rows: [storedRow] } });
  for (let n = 0; n < 3; n += 1) expect(await table.get([aKey])).toEqual([{ ...aKey, name: "ü", size: 2 }]);
  expect(received.map(({ target }) => target)).toEqual(Array(3).fill("DynamoDB_20120810.BatchGetItem"));
  expect(new Set(received.map(({ port }) => port)).size).toBe(1);
});

test("a write leaves out what is undefined and asks for the row in its way", async () => {
  await table.write([aWrite]);
  expect(received[0]?.body.TransactItems).toEqual([
    {
      Put: {
        TableName: "rows",
        Item: { pk: { S: "a" }, sk: { S: "b" }, name: { S: "ü" } },
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
  expect(await table.write([aWrite])).toEqual({ ok: true });
  const tokens = received.map(({ body }) => body.ClientRequestToken);
  expect(tokens).toEqual(Array(3).fill(expect.stringMatching(/^[\w-]{36}$/)));
  expect(new Set(tokens).size).toBe(1);
  await table.write([aWrite]);
  expect(received.at(-1)?.body.ClientRequestToken).not.toBe(tokens[0]);
});

test("keys that stay unprocessed are asked for again, alone", async () => {
  const keys = [aKey, { pk: "c", sk: "d" }];
  const left = { rows: { Keys: [{ pk: { S: "c" }, sk: { S: "d" } }] } };
  behave = (n, response) =>
    answer(response, 200, n === 0 ? { Responses: { rows: [storedRow] }, UnprocessedKeys: left } : {});
  expect(await table.get(keys)).toEqual([{ ...aKey, name: "ü", size: 2 }, undefined]);
  expect(received.map(({ body }) => body.RequestItems?.rows?.Keys.length)).toEqual([2, 1]);
});

test("an answer that does not come, or stops half way, is not waited for", async () => {
  table = connectTable("rows", 200);
  behave = (n, response) => {
    if (n === 1) response.writeHead(200, { "content-length": 9 }).write("{");
    else if (n > 1) answer(response, 200, {});
  };
  expect(await table.query(aQuery)).toEqual({ items: [], more: false });
  expect(received).toHaveLength(3);
});

test("four attempts are the most", async () => {
  behave = (_, response) => answer(response, 500, refusal("InternalServerError"));
  await expect(table.get([aKey])).rejects.toMatchObject({ name: "InternalServerError", $fault: "server" });
  expect(received).toHaveLength(4);
});

const canceled = (CancellationReasons: object[]) => ({
  ...refusal("TransactionCanceledException"),
  Message: "no",
  CancellationReasons,
});

test("a refusal is not tried again and gives the row in the way", async () => {
  const reasons = [{ Code: "None" }, { Code: "ConditionalCheckFailed", Item: storedRow }];
  behave = (_, response) => answer(response, 400, canceled(reasons));
  const outcome = await table.write([aWrite, aWrite]);
  expect(outcome).toEqual({ ok: false, failed: new Map([[1, { ...aKey, name: "ü", size: 2 }]]) });
  expect(received).toHaveLength(1);
});

test("an answer that is not JSON is told without a word of it", async () => {
  behave = (_, response) => answer(response, 200, "the row's secret");
  const error = await table.get([aKey]).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "UnreadableAnswer", message: "DynamoDB's answer could not be read" });
  expect(isTransient(error)).toBe(true);
});
