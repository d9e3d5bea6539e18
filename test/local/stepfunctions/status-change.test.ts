import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { machine, startLocal, virtualClock } from "./harness.ts";

const states = { A: { Type: "Pass", Next: "B" }, B: { Type: "Fail", Error: "E", Cause: "C" } };
const openJournals = (dir: string) => readdirSync(join(dir, "open"));

test("each execution's start and end are sent as EventBridge events", async () => {
  const local = await startLocal({ definition: machine(states) });
  const arn = await local.start({ a: 1 }, "told");
  await local.sfn.idle();
  const execution = await local.describe(arn);
  const [running, failed] = local.events;
  expect(running?.detail).toMatchObject({ status: "RUNNING", stopDate: null, output: null, error: null });
  expect(failed).toMatchObject({
    "detail-type": "Step Functions Execution Status Change",
    source: "aws.states",
    account: "123456789012",
    region: "us-east-1",
    resources: [arn],
    detail: {
      executionArn: arn,
      stateMachineArn: execution.stateMachineArn,
      name: "told",
      status: "FAILED",
      startDate: execution.startDate?.getTime(),
      stopDate: execution.stopDate?.getTime(),
      input: '{"a":1}',
      output: null,
      error: "E",
      cause: "C",
    },
  });
  expect(openJournals(local.dir)).toEqual([]);
});

test("a refused event is delivered again with growing delays and the same id", async () => {
  const clock = virtualClock(true);
  const tries: { id: string; at: number }[] = [];
  const local = await startLocal({
    definition: machine(states),
    clock,
    async onStatusChange(event) {
      if (event.detail.status !== "FAILED") return;
      tries.push({ id: event.id, at: clock.now().getTime() });
      if (tries.length < 4) throw new Error("not now");
    },
  });
  await local.run();
  expect(new Set(tries.map(({ id }) => id)).size).toBe(1);
  expect(tries.map(({ at }) => at - (tries[0]?.at ?? 0))).toEqual([0, 100, 300, 700]);
  expect(local.events.map((event) => event.detail.status)).toEqual(["RUNNING", "FAILED"]);
});

test("only an event that was not accepted before the service closed is delivered at the next resume", async () => {
  const definition = machine(states);
  const refused: string[] = [];
  const first = await startLocal({
    definition,
    onStatusChange: async (event) => {
      if (event.detail.status !== "FAILED") return;
      refused.push(event.id);
      throw new Error("the receiver is down");
    },
  });
  const arn = await first.start();
  await expect.poll(async () => (await first.describe(arn)).status).toBe("FAILED");
  await first.sfn.close();
  expect(openJournals(first.dir)).toHaveLength(1);

  const second = await startLocal({ definition, dir: first.dir });
  await second.sfn.idle();
  expect(second.events.map((event) => event.detail.status)).toEqual(["FAILED"]);
  expect(second.events[0]?.id).toBe(refused[0]);
  expect(openJournals(first.dir)).toEqual([]);
  expect(await second.describe(arn)).toMatchObject({ status: "FAILED", error: "E", cause: "C" });
});

test("under cloud an event is delivered twice, late, or not at all", async () => {
  const clock = virtualClock(true);
  const times: [string, number][] = [];
  const local = await startLocal({
    definition: machine(states),
    clock,
    behavior: { deliveriesMs: ({ status }) => (status === "RUNNING" ? [] : [300, 1_200]) },
    onStatusChange: async ({ detail }) => void times.push([detail.status, clock.now().getTime()]),
  });
  const began = clock.now().getTime();
  await local.run();
  expect(times.map(([status, at]) => [status, at - began])).toEqual([
    ["FAILED", 300],
    ["FAILED", 1_200],
  ]);
  expect(openJournals(local.dir)).toEqual([]);
});
