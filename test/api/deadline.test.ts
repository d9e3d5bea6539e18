import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from "aws-lambda";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { withDeadline } from "../../lambdas/http/deadline.ts";
import { newKeyPair } from "../../lambdas/http/presented-credential.ts";
import { newId } from "../../lambdas/table/ids.ts";

/** A DynamoDB that never answers; counts attempts and aborted requests. */
const silent = { attempts: 0, aborted: 0 };
const server = createServer((request) => {
  silent.attempts += 1;
  request.on("close", () => {
    silent.aborted += 1;
  });
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  Object.assign(process.env, {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "secret",
    TABLE_NAME: "slipway",
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  // The next file of this process must not get the function with the address of this server.
  vi.resetModules();
});

const { access, secret } = newKeyPair(newId("org", new Date()));
const event = (accept = "*/*") =>
  ({
    rawPath: "/ping",
    headers: { authorization: `Bearer ${access}:${secret}`, accept },
    requestContext: { requestId: "req-1" },
  }) as unknown as APIGatewayProxyEventV2;
/** The function's time-out is 3 s after the deadline. */
const context = (deadlineMs: number) => ({ getRemainingTimeInMillis: () => deadlineMs + 3_000 }) as Context;
const bodyOf = (answer: APIGatewayProxyStructuredResultV2 | undefined) => JSON.parse(answer?.body ?? "");

test.concurrent("a request whose calls get no answer ends at its deadline with 503, and its calls are aborted", async ({
  expect,
}) => {
  // Another test file of this process may have loaded the function, with the addresses of its own service.
  vi.resetModules();
  const { handler } = await import("../../lambdas/organizations/ping.ts");
  const answer = await handler(event(), context(2_000));
  expect(answer).toMatchObject({ statusCode: 503, headers: { "retry-after": "1", "x-request-id": "req-1" } });
  expect(bodyOf(answer)).toMatchObject({ status: "Service Unavailable", code: "unavailable", requestId: "req-1" });
  // Without a deadline there would be four attempts of 3 s.
  expect(silent.attempts).toBeLessThan(2);
  await expect.poll(() => silent.aborted).toBe(silent.attempts);
});

test.concurrent("the answer for a handler that waits for something else has the format that the client asks for", async () => {
  const never = withDeadline(() => new Promise(() => undefined));
  const answer = await never(event("application/problem+json"), context(0));
  expect(answer).toMatchObject({ statusCode: 503, headers: { "content-type": "application/problem+json" } });
  expect(bodyOf(answer)).toMatchObject({ status: 503, code: "unavailable" });
});

test.concurrent("an answer before the deadline is passed on, and its deadline does not end a later request", async () => {
  const quick = withDeadline(async () => ({ statusCode: 200 }));
  expect(await quick(event(), context(1_000))).toEqual({ statusCode: 200 });
  const slower = withDeadline(() => sleep(1_200, { statusCode: 200 }));
  expect(await slower(event(), context(5_000))).toEqual({ statusCode: 200 });
});
