import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadMachine } from "../../../local/stepfunctions/interpreter/machine.ts";
import { openArchive } from "../../../local/stepfunctions/store/archive.ts";
import type { Ending, Identity } from "../../../local/stepfunctions/store/journal.ts";
import { MACHINE_ARN, machine, startLocal, temporaryDir } from "./harness.ts";

const DAY_MS = 24 * 3_600_000;

function closed(index: number, stoppedAt: number) {
  const name = `n${index}`;
  const arn = `${MACHINE_ARN.replace("stateMachine", "execution")}:${name}`;
  const base = { stateMachineArn: MACHINE_ARN, roleArn: "r", input: '{"a":1}', definition: "d" };
  const identity: Identity = { arn, name, startedAt: stoppedAt - 1, ...base };
  const ending: Ending = { status: "SUCCEEDED", stoppedAt, output: `"${"x".repeat(10_000)}"` };
  return { identity, ending, history: [{ type: "ExecutionStarted", at: stoppedAt - 1 }] };
}

test("the newest thousand closed executions are kept, older ones are deleted from the disk", () => {
  const dir = temporaryDir();
  const archive = openArchive(dir, () => 10_000);
  for (let i = 0; i < 1_210; i++) archive.add(closed(i, i));
  const again = openArchive(dir, () => 10_000);
  expect([...again.list()]).toHaveLength(1_000);
  expect(readdirSync(join(dir, "closed"))).toHaveLength(1_000);
  expect(again.find(closed(209, 0).identity.arn)).toBeUndefined();
  const kept = again.find(closed(1_209, 0).identity.arn);
  expect(kept && again.read(kept)).toEqual(closed(1_209, 1_209));
});

test("after 90 days a name is free again, as in AWS", () => {
  const dir = temporaryDir();
  const day = (count: number) => () => count * DAY_MS;
  openArchive(dir, day(0)).add(closed(1, 0));
  const { arn } = closed(1, 0).identity;
  expect(openArchive(dir, day(90)).find(arn)?.status).toBe("SUCCEEDED");
  expect(openArchive(dir, day(91)).find(arn)).toBeUndefined();
  expect(readdirSync(join(dir, "closed"))).toEqual([]);
});

test("starting with a thousand closed executions reads an index instead of their records", () => {
  const dir = temporaryDir();
  const archive = openArchive(dir, () => Date.now());
  for (let i = 0; i < 1_000; i++) archive.add(closed(i, Date.now()));
  expect(statSync(join(dir, "closed.jsonl")).size).toBeLessThan(400 * 1_000);
  for (const name of readdirSync(join(dir, "closed"))) rmSync(join(dir, "closed", name));
  const opened = openArchive(dir, () => Date.now());
  expect([...opened.list()]).toHaveLength(1_000);
});

test("an ended execution leaves one small record, and no journal or unused definition", async () => {
  const dir = temporaryDir();
  const definition = (n: number) => machine({ A: { Type: "Succeed", Output: n } });
  for (const n of [1, 2]) {
    const local = await startLocal({ dir, definition: definition(n) });
    for (let i = 0; i < 5; i++) await local.start({ n, i });
    await local.sfn.idle();
    await local.sfn.close();
  }
  expect(readdirSync(join(dir, "open"))).toEqual([]);
  expect(readdirSync(join(dir, "closed"))).toHaveLength(10);
  expect(readdirSync(join(dir, "definitions"))).toEqual([`${loadMachine(definition(2), {}).hash}.json`]);
});
