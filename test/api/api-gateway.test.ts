import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it, test } from "vitest";
import { type Running, startRunning } from "../harness/service.ts";

let running: Running;
beforeAll(async () => {
  running = await startRunning();
});
afterAll(() => running.stop());

test.each(["limit=5?6", "limit=5?", "?limit=5"])(
  "all that follows the first question mark is the query: ?%s",
  async (query) => {
    const { status } = await running.call("GET", `${running.project}/builds?${query}`);
    expect(status).toBe(query.startsWith("?") ? 200 : 400);
  },
);

it("validates a credential or a cursor of 20,000 characters like any other", async () => {
  const long = "x".repeat(20_000);
  expect((await running.call("GET", "/ping", { bearer: long })).status).toBe(401);
  expect((await running.call("GET", `${running.project}/builds?cursor=${long}`)).status).toBe(400);
});

test.each([
  ["no HTTP at all", "hello\r\n\r\n"],
  ["two lengths", "POST /sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"],
  ["headers that are too long", `GET /ping HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(70_000)}\r\n\r\n`],
])("%s is an error in the shape of all errors", async (_, request) => {
  const socket = connect(Number(new URL(running.seed.baseUrl).port), "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.write(request);
  await once(socket, "end");
  socket.destroy();
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  expect(head.split("\r\n")[0]).toBe("HTTP/1.1 400 Bad Request");
  const { requestId, ...error } = JSON.parse(body);
  expect(head).toContain(`x-request-id: ${requestId}`);
  expect(error).toMatchObject({ status: "Bad Request", code: "invalid_request", issues: [{ path: "" }] });
});
