import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connectDynamoDb, type DynamoDb } from "../../../../lambdas/table/dynamodb.ts";

interface Received {
  target: string;
  body: { ClientRequestToken?: string };
  port: number | undefined;
}

let received: Received[];
/** What the far end does with the n-th request, from 0 on. */
let behave: (n: number, response: ServerResponse) => void;
let server: Server;
let dynamoDb: DynamoDb;
const names = ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;
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
  process.env.AWS_ACCESS_KEY_ID = "AKIAEXAMPLE";
  process.env.AWS_SECRET_ACCESS_KEY = "secret";
  dynamoDb = connectDynamoDb();
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
const aRead = { RequestItems: { rows: { Keys: [{ pk: { S: "a" }, sk: { S: "b" } }] } } };

test("calls go over one connection that is kept", async () => {
  behave = (_, response) => answer(response, 200, { Responses: { rows: [{ pk: { S: "ü" } }] } });
  for (let n = 0; n < 3; n += 1) {
    expect(await dynamoDb("BatchGetItem", aRead)).toEqual({ Responses: { rows: [{ pk: { S: "ü" } }] } });
  }
  expect(received.map(({ target }) => target)).toEqual(Array(3).fill("DynamoDB_20120810.BatchGetItem"));
  expect(new Set(received.map(({ port }) => port)).size).toBe(1);
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
])("%s is tried again, a transaction under the same token", async (_, fault) => {
  behave = (n, response) => (n < 2 ? fault(response) : answer(response, 200, {}));
  expect(await dynamoDb("TransactWriteItems", { TransactItems: [] })).toEqual({});
  const tokens = received.map(({ body }) => body.ClientRequestToken);
  expect(tokens).toEqual(Array(3).fill(expect.stringMatching(/^[\w-]{36}$/)));
  expect(new Set(tokens).size).toBe(1);
  await dynamoDb("TransactWriteItems", { TransactItems: [] });
  expect(received.at(-1)?.body.ClientRequestToken).not.toBe(tokens[0]);
});

test("an answer that stops half way is not waited for", async () => {
  behave = (n, response) => {
    if (n === 0) response.writeHead(200, { "content-length": 9 }).write("{");
    else answer(response, 200, {});
  };
  expect(await dynamoDb("Query", { TableName: "rows" })).toEqual({});
  expect(received).toHaveLength(2);
});

test("four attempts are the most", async () => {
  behave = (_, response) => answer(response, 500, refusal("InternalServerError"));
  await expect(dynamoDb("BatchGetItem", aRead)).rejects.toMatchObject({
    name: "InternalServerError",
    message: "injected",
    $fault: "server",
  });
  expect(received).toHaveLength(4);
});

test("a refusal is not tried again and says what became of each write", async () => {
  const CancellationReasons = [{ Code: "None" }, { Code: "ConditionalCheckFailed", Item: { pk: { S: "a" } } }];
  behave = (_, response) =>
    answer(response, 400, { ...refusal("TransactionCanceledException"), Message: "no", CancellationReasons });
  await expect(dynamoDb("TransactWriteItems", { TransactItems: [] })).rejects.toMatchObject({
    name: "TransactionCanceledException",
    $fault: "client",
    reasons: CancellationReasons,
  });
  expect(received).toHaveLength(1);
});

test("an answer that is not JSON is told without a word of it", async () => {
  behave = (_, response) => answer(response, 200, "the row's secret");
  const error = await dynamoDb("BatchGetItem", aRead).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "UnknownError", message: "DynamoDB's answer to BatchGetItem is not JSON" });
});
