import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { SendTaskHeartbeatCommand, SendTaskSuccessCommand, StopExecutionCommand } from "@aws-sdk/client-sfn";
import { expect, test } from "vitest";
import type { Integrations } from "../../../local/stepfunctions/interpreter/resources.ts";
import { type Entry, openJournal, readJournal } from "../../../local/stepfunctions/store/journal.ts";
import { LAMBDA, LAMBDA_TOKEN, lambdas, machine, startLocal, temporaryDir, virtualClock } from "./harness.ts";

test("close ends no execution: the next service continues each from where it was", async () => {
  const dir = temporaryDir();
  const clock = virtualClock(false);
  const definition = machine({
    A: { Type: "Choice", Choices: [{ Condition: "{% $states.input = 'wait' %}", Next: "W" }], Default: "T" },
    W: { Type: "Wait", Seconds: 60, End: true },
    T: { Type: "Task", Resource: LAMBDA_TOKEN, Arguments: { FunctionName: "f" }, End: true },
  });
  const integrations = lambdas({ f: () => 1 });
  const first = await startLocal({ dir, definition, clock, integrations });
  const wait = await first.start("wait");
  const token = await first.start("token");
  await first.sfn.close();
  expect(readdirSync(join(dir, "closed"))).toEqual([]);

  const second = await startLocal({ dir, definition, clock, integrations, resume: false });
  expect((await second.describe(wait)).status).toBe("RUNNING");
  await second.sfn.resume();
  await second.sfn.resume();
  await clock.advance(60_000);
  await expect.poll(async () => (await second.describe(wait)).status).toBe("SUCCEEDED");
  expect((await second.describe(token)).status).toBe("RUNNING");
});

test("a journal can be continued after its incomplete last line was cut off", () => {
  const path = join(temporaryDir(), "journal.jsonl");
  const lines: Entry[] = [{ t: "waiting", until: 1 }, { t: "submitted" }, { t: "heartbeat", at: 2 }];
  const write = (line: Entry | undefined) => {
    const journal = openJournal(path);
    if (line) journal.append(line);
    journal.flush();
  };
  write(lines[0]);
  write(lines[1]);
  appendFileSync(path, '{"t":"heartb');
  expect(readJournal(path)).toEqual({ entries: lines.slice(0, 2), damaged: false });
  write(lines[2]);
  expect(readJournal(path)).toEqual({ entries: lines, damaged: false });
});

test("a token can be answered once before resume, and the answer survives if the process dies again", async () => {
  const dir = temporaryDir();
  const tokens: string[] = [];
  const integrations: Integrations = { [LAMBDA]: async (_, { taskToken }) => tokens.push(taskToken ?? "") };
  const states = { T: { Type: "Task", Resource: LAMBDA_TOKEN, Arguments: { FunctionName: "f" }, End: true } };
  const definition = machine(states);
  const first = await startLocal({ dir, definition, integrations });
  const arn = await first.start();
  await first.sfn.idle();
  await first.sfn.close();

  const second = await startLocal({ dir, definition, integrations, resume: false });
  const success = new SendTaskSuccessCommand({ taskToken: tokens[0], output: '"kept"' });
  await second.client.send(success);
  await expect(second.client.send(success)).rejects.toMatchObject({ name: "TaskTimedOut" });
  // The second service is neither resumed nor closed, as if its process had been killed.
  const third = await startLocal({ dir, definition, integrations });
  await third.sfn.idle();
  expect(await third.describe(arn)).toMatchObject({ status: "SUCCEEDED", output: '"kept"' });
  expect(tokens).toHaveLength(1);
});

test("a Wait of a random length keeps its length after a restart", async () => {
  const dir = temporaryDir();
  const clock = virtualClock(false);
  const states = { W: { Type: "Wait", Seconds: "{% $floor($random() * 1000000) + 10 %}", End: true } };
  const first = await startLocal({ dir, definition: machine(states), clock });
  const arn = await first.start();
  await expect.poll(() => readdirSync(join(dir, "open")).length).toBe(1);
  const [journal = ""] = readdirSync(join(dir, "open"));
  const { entries } = readJournal(join(dir, "open", journal));
  const until = entries.find((entry) => entry.t === "waiting")?.until ?? 0;
  await first.sfn.close();

  const second = await startLocal({ dir, definition: machine(states), clock });
  await clock.advance(until - clock.now().getTime() - 1);
  expect((await second.describe(arn)).status).toBe("RUNNING");
  await clock.advance(1);
  await expect.poll(async () => (await second.describe(arn)).status).toBe("SUCCEEDED");
});

test("a heartbeat's deadline is kept after a restart, and a missed one is noticed", async () => {
  const dir = temporaryDir();
  const clock = virtualClock(false);
  const tokens: string[] = [];
  const integrations: Integrations = { [LAMBDA]: async (_, { taskToken }) => tokens.push(taskToken ?? "") };
  const task = {
    Type: "Task",
    Resource: LAMBDA_TOKEN,
    Arguments: { FunctionName: "f" },
    HeartbeatSeconds: 30,
    End: true,
  };
  const definition = machine({ T: task });
  const first = await startLocal({ dir, definition, clock, integrations });
  const arn = await first.start();
  await first.sfn.idle();
  await clock.advance(20_000);
  await first.client.send(new SendTaskHeartbeatCommand({ taskToken: tokens[0] }));
  await first.sfn.close();
  await clock.advance(20_000);

  const second = await startLocal({ dir, definition, clock, integrations });
  await clock.advance(9_999);
  expect((await second.describe(arn)).status).toBe("RUNNING");
  await clock.advance(1);
  await second.sfn.idle();
  expect(await second.describe(arn)).toMatchObject({ status: "FAILED", error: "States.Timeout" });
});

test("an execution can be stopped before resume, and one past its time-out becomes TIMED_OUT, without another call", async () => {
  const dir = temporaryDir();
  const clock = virtualClock(false);
  let calls = 0;
  const integrations = lambdas({ hang: () => new Promise(() => calls++) });
  const task = { Type: "Task", Resource: LAMBDA, Arguments: { FunctionName: "hang" }, End: true };
  const definition = machine({ T: task }, { TimeoutSeconds: 60 });
  const first = await startLocal({ dir, definition, clock, integrations });
  const stopped = await first.start();
  const late = await first.start();
  await first.sfn.close();
  await clock.advance(60_000);

  const second = await startLocal({ dir, definition, clock, integrations, resume: false });
  await second.client.send(new StopExecutionCommand({ executionArn: stopped }));
  await second.sfn.resume();
  await second.sfn.idle();
  expect((await second.describe(stopped)).status).toBe("ABORTED");
  expect((await second.describe(late)).status).toBe("TIMED_OUT");
  expect(calls).toBe(2);
  const told = second.events.map((event) => event.detail.status).sort();
  expect(told).toEqual(["ABORTED", "TIMED_OUT"]);
});

test("only the owner can read journals", async () => {
  const dir = temporaryDir();
  const definition = machine({ W: { Type: "Wait", Seconds: 60, End: true } });
  const local = await startLocal({ dir, definition });
  await local.start({ password: "hunter2" });
  const [journal = ""] = readdirSync(join(dir, "open"));
  expect(readFileSync(join(dir, "open", journal), "utf8")).toContain("hunter2");
  expect(statSync(join(dir, "open", journal)).mode & 0o077).toBe(0);
});

test("a call whose record cannot be written to disk is not acknowledged and not run", async () => {
  const dir = temporaryDir();
  const tokens: string[] = [];
  const integrations: Integrations = { [LAMBDA]: async (_, { taskToken }) => tokens.push(taskToken ?? "") };
  const task = { Type: "Task", Resource: LAMBDA_TOKEN, Arguments: { FunctionName: "f" }, End: true };
  const local = await startLocal({ dir, definition: machine({ T: task }), integrations });
  const arn = await local.start();
  await local.sfn.idle();
  const [journal = ""] = readdirSync(join(dir, "open"));
  renameSync(join(dir, "open", journal), join(dir, "moved"));
  mkdirSync(join(dir, "open", journal)); // appending to a folder fails, as on a full disk
  const success = new SendTaskSuccessCommand({ taskToken: tokens[0], output: "1" });
  await expect(local.client.send(success)).rejects.toMatchObject({ name: "InternalFailure" });
  const stop = new StopExecutionCommand({ executionArn: arn });
  await expect(local.client.send(stop)).rejects.toMatchObject({ name: "InternalFailure" });
  expect((await local.describe(arn)).status).toBe("RUNNING");
});
