import { expect, test } from "vitest";
import { createClient } from "../../../sdk/client.ts";
import { SlipwayError } from "../../../sdk/errors.ts";
import { parseRetryAfter, retryDelaySeconds } from "../../../sdk/retry.ts";
import { farEnd } from "./far-end.ts";

const project = { orgId: "org_1", projectId: "prj_1" };
const busy = (seconds?: string) => ({
  status: 503,
  ...(seconds !== undefined && { headers: { "retry-after": seconds } }),
  body: { status: "Service Unavailable", message: "later", code: "unavailable", requestId: "r" },
});

function clientOf(baseUrl: string) {
  const waits: number[] = [];
  const sleep = async (seconds: number) => void waits.push(seconds);
  return { waits, client: createClient({ baseUrl, accessKey: "ak", secretKey: "sk" }, { sleep }) };
}

test("a GET is repeated after exactly the time that the service asked for", async () => {
  await using service = await farEnd(busy("3"), { ...busy("0"), status: 429 }, { body: '"pong"' });
  const { client, waits } = clientOf(service.baseUrl);
  expect(await client.ping()).toBe("pong");
  expect(waits).toEqual([3, 0]);
});

test("a GET is repeated when the connection breaks", async () => {
  await using service = await farEnd((request) => request.socket.destroy(), { body: '"pong"' });
  const { client, waits } = clientOf(service.baseUrl);
  expect(await client.ping()).toBe("pong");
  expect(waits).toHaveLength(1);
});

test("a GET is given up after four attempts, with the service's last word", async () => {
  await using service = await farEnd(busy());
  const { client } = clientOf(service.baseUrl);
  await expect(client.ping()).rejects.toMatchObject({ status: 503, code: "unavailable" });
  expect(service.received).toHaveLength(4);
});

test("a wait of more than half a minute is left to the caller", async () => {
  await using service = await farEnd(busy("3600"));
  const { client, waits } = clientOf(service.baseUrl);
  await expect(client.ping()).rejects.toMatchObject({ retryAfterSeconds: 3600 });
  expect(waits).toEqual([]);
});

test("a POST is sent once, unless its Idempotency-Key makes it safe to repeat", async () => {
  const reply = { status: 201, body: { credential: { id: 1, access: "a", description: "", expiredAt: null } } };
  const created = { ...reply.body.credential, createdAt: "2026-11-20T01:02:03.456Z" };
  await using once = await farEnd(busy("0"), { ...reply, body: { credential: created } });
  await expect(clientOf(once.baseUrl).client.createCredential(project)).rejects.toMatchObject({ status: 503 });
  expect(once.received).toHaveLength(1);
  await using keyed = await farEnd(busy("0"), { ...reply, body: { credential: created } });
  await clientOf(keyed.baseUrl).client.createCredential(project, { idempotencyKey: "k" });
  expect(keyed.received.map(({ headers }) => headers["idempotency-key"])).toEqual(["k", "k"]);
});

test("a 500 or a 404 is not repeated", async () => {
  for (const status of [500, 404]) {
    await using service = await farEnd({ ...busy("0"), status });
    await expect(clientOf(service.baseUrl).client.ping()).rejects.toMatchObject({ status });
    expect(service.received).toHaveLength(1);
  }
});

test("a service that is not there is named, with the reason", async () => {
  const gone = await farEnd();
  await gone[Symbol.asyncDispose]();
  const call = clientOf(gone.baseUrl).client.ping();
  await expect(call).rejects.toMatchObject({
    code: "network",
    status: undefined,
    message: `The service at ${gone.baseUrl} could not be reached (ECONNREFUSED).`,
  });
});

test("a service that does not answer in time is a timeout", async () => {
  await using service = await farEnd(() => undefined);
  const options = { timeoutSeconds: 0.05, attemptsMax: 1 };
  const client = createClient({ baseUrl: service.baseUrl, token: "t" }, options);
  await expect(client.ping()).rejects.toMatchObject({ code: "timeout" });
});

test("an aborted call ends with the caller's reason and is not repeated", async () => {
  const controller = new AbortController();
  await using service = await farEnd(() => controller.abort(new Error("enough")));
  const { client, waits } = clientOf(service.baseUrl);
  await expect(client.ping({}, { signal: controller.signal })).rejects.toThrow("enough");
  expect(waits).toEqual([]);
});

test.each([
  ["5", 5],
  [" 0 ", 0],
  ["Fri, 20 Nov 2026 00:00:30 GMT", 30],
  ["Thu, 19 Nov 2026 00:00:00 GMT", 0],
  ["-1", undefined],
  ["1.5", undefined],
  ["soon", undefined],
  ["", undefined],
  [null, undefined],
])("Retry-After %j means %j seconds", (value, seconds) => {
  expect(parseRetryAfter(value, new Date("2026-11-20T00:00:00Z"))).toBe(seconds);
});

test("without Retry-After the waits grow, differ between clients, and stay below five seconds", () => {
  const error = new SlipwayError("network", "x");
  const waits = [1, 2, 3, 9].map((attempt) => retryDelaySeconds(error, attempt, () => 1));
  expect(waits).toEqual([0.2, 0.4, 0.8, 5]);
  expect(retryDelaySeconds(error, 1, () => 0)).toBe(0.1);
});
