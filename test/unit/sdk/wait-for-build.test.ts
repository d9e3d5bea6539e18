import { expect, test } from "vitest";
import { createClient } from "../../../sdk/client.ts";
import { waitForBuild } from "../../../sdk/wait-for-build.ts";
import { farEnd, polled } from "./far-end.ts";

const ids = { orgId: "org_1", projectId: "prj_1", buildId: "bld_1" };
const after = (seconds: string, status: string) => ({ headers: { "retry-after": seconds }, body: polled(status) });

function poller(baseUrl: string) {
  const waits: number[] = [];
  const statuses: string[] = [];
  const sleep = async (seconds: number) => void waits.push(seconds);
  const client = createClient({ baseUrl, token: "t" }, { attemptsMax: 1 });
  const wait = () => waitForBuild(client, ids, { sleep, onStatus: ({ status }) => void statuses.push(status) });
  return { waits, statuses, wait };
}

test("a build is read as often as the service asks for, and each status is told once", async () => {
  await using service = await farEnd(
    after("1", "pending"),
    after("2", "pending"),
    after("5", "building"),
    { body: polled("deploying") },
    { body: polled("ready", { warning: "404" }) },
  );
  const { wait, waits, statuses } = poller(service.baseUrl);
  expect(await wait()).toMatchObject({ status: "ready", warning: "404" });
  expect(waits).toEqual([1, 2, 5, 2]);
  expect(statuses).toEqual(["pending", "building", "deploying", "ready"]);
});

test("waiting ends when canceledAt is set, with any status", async () => {
  await using service = await farEnd({ body: polled("analyzing", { canceledAt: "2026-11-20T01:02:03.456Z" }) });
  expect(await poller(service.baseUrl).wait()).toMatchObject({ status: "analyzing" });
  expect(service.received).toHaveLength(1);
});

test("a failed build is returned, not thrown", async () => {
  await using service = await farEnd({ body: polled("error", { error: "no start command" }) });
  expect(await poller(service.baseUrl).wait()).toMatchObject({ status: "error", error: "no start command" });
});

test("waiting survives a service that is away for a few polls, and no more than that", async () => {
  const away = { status: 503, headers: { "retry-after": "4" } };
  await using back = await farEnd(away, away, after("1", "pending"), away, away, away, { body: polled("ready") });
  const patient = poller(back.baseUrl);
  expect(await patient.wait()).toMatchObject({ status: "ready" });
  expect(patient.waits).toEqual([4, 4, 1, 4, 4, 4]);
  await using gone = await farEnd(away);
  await expect(poller(gone.baseUrl).wait()).rejects.toMatchObject({ status: 503 });
  expect(gone.received).toHaveLength(5);
});

test("a build that is not there ends the waiting at once", async () => {
  await using service = await farEnd({ status: 404 });
  await expect(poller(service.baseUrl).wait()).rejects.toMatchObject({ status: 404 });
});

test("an absurd Retry-After is cut to a minute", async () => {
  await using service = await farEnd(after("86400", "pending"), { body: polled("ready") });
  const { wait, waits } = poller(service.baseUrl);
  await wait();
  expect(waits).toEqual([60]);
});

test("a caller who knows better pauses for less than the service asks for, never for more", async () => {
  const away = { status: 503, headers: { "retry-after": "4" } };
  await using service = await farEnd(after("1", "pending"), away, after("5", "building"), { body: polled("ready") });
  const waits: number[] = [];
  const waited: number[] = [];
  const client = createClient({ baseUrl: service.baseUrl, token: "t" }, { attemptsMax: 1 });
  await waitForBuild(client, ids, {
    sleep: async (seconds) => void waits.push(seconds),
    pauseSecondsMax: (seconds) => {
      waited.push(seconds);
      return waited.length * 2;
    },
  });
  expect(waits).toEqual([1, 4, 4]);
  expect(waited[0]).toBeLessThanOrEqual(waited[1] ?? 0);
});

test("waiting stops with the signal's reason, in the middle of a pause too", async () => {
  const controller = new AbortController();
  await using service = await farEnd(after("60", "building"));
  const client = createClient({ baseUrl: service.baseUrl, token: "t" });
  const waiting = waitForBuild(client, ids, {
    signal: controller.signal,
    onStatus: () => setTimeout(() => controller.abort(new Error("stop")), 20),
  });
  await expect(waiting).rejects.toThrow("stop");
});
