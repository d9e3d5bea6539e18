import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { testKey } from "../../harness/signing.ts";
import { LAMBDA, LAMBDA_TOKEN, MACHINE_ARN, machine, REGION } from "./harness.ts";

// Each test starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const soon = { timeout: 50_000, interval: 50 };

const callSchema = z.object({
  FunctionName: z.string().optional(),
  Payload: z.unknown().optional(),
  taskToken: z.string().optional(),
  event: z.string().optional(),
  id: z.string().optional(),
  executionArn: z.string(),
});

const machineArn = (name: string) => MACHINE_ARN.replace(/[^:]+$/, name);
const arnOf = (name: string, of = name) => `${machineArn(of).replace("stateMachine", "execution")}:${name}`;

/** Creates a folder whose engine can be killed and started again. `of` names an execution's machine, by default as the execution. */
function openEngine(definitions: Record<string, unknown>) {
  const dir = mkdtempSync(join(tmpdir(), "stepfunctions-"));
  const define = (changed: Record<string, unknown>) => {
    const machines = Object.entries({ ...definitions, ...changed });
    const written = machines.map(([name, definition]) => ({ arn: machineArn(name), definition }));
    writeFileSync(join(dir, "machines.json"), JSON.stringify(written));
  };
  define({});
  const script = join(import.meta.dirname, "engine-process.ts");
  const kills: (() => Promise<void>)[] = [];
  const journals = () => readdirSync(join(dir, "states", "open")).map((name) => join(dir, "states", "open", name));
  return {
    dir,
    define,
    /** `modes` says what the functions of an execution do; by default they work. */
    async launch(modes: Record<string, "hang" | "hang-first" | "hang-second" | "fail"> = {}) {
      const args = [script, dir, JSON.stringify(modes)];
      const child: ChildProcess = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
      const kill = async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill("SIGKILL");
        await once(child, "exit");
      };
      kills.push(kill);
      if (!child.stdout) throw new Error("no standard output");
      const [endpoint] = await once(createInterface(child.stdout), "line");
      const client = new SFNClient({
        region: REGION,
        endpoint: String(endpoint),
        credentials: testKey,
        maxAttempts: 1,
      });
      return {
        client,
        kill,
        start: (name: string, input: unknown = {}, of = name) =>
          client.send(
            new StartExecutionCommand({ stateMachineArn: machineArn(of), name, input: JSON.stringify(input) }),
          ),
        /** The description of an execution when it has ended. */
        async ended(name: string, of?: string) {
          return vi.waitFor(async () => {
            const execution = await client.send(new DescribeExecutionCommand({ executionArn: arnOf(name, of) }));
            expect(execution.status).not.toBe("RUNNING");
            return execution;
          }, soon);
        },
      };
    },
    calls(name?: string) {
      const path = join(dir, "calls.jsonl");
      const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
      const all = lines.map((line) => callSchema.parse(JSON.parse(line)));
      return name === undefined ? all : all.filter((call) => call.executionArn === arnOf(name));
    },
    callsOf(name: string, functionName: string) {
      return this.calls(name).filter((call) => call.FunctionName === functionName);
    },
    async called(name: string, functionName: string, times = 1) {
      await vi.waitFor(() => expect(this.callsOf(name, functionName).length).toBeGreaterThanOrEqual(times), soon);
    },
    journals,
    /** The file of a running execution. */
    journalOf(name: string) {
      const path = journals().find((one) => readFileSync(one, "utf8").includes(`"${arnOf(name)}"`));
      if (path === undefined) throw new Error(`${name} has no journal: it has ended.`);
      return path;
    },
    async remove() {
      for (const kill of kills) await kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const invoke = (name: string, more: Record<string, unknown>) => ({
  Type: "Task",
  Resource: LAMBDA,
  Arguments: { FunctionName: name, Payload: "{% {'in': $states.input, 'n': $n} %}" },
  Output: "{% $states.result.Payload %}",
  ...more,
});
const steps = machine({
  Begin: { Type: "Pass", Assign: { n: 1 }, Next: "First" },
  First: invoke("first", { Assign: { n: 2 }, Next: "Second" }),
  Second: invoke("second", { Next: "Z" }),
  Z: { Type: "Succeed", Output: "{% {'in': $states.input, 'n': $n} %}" },
});

const token = {
  Type: "Task",
  Resource: LAMBDA_TOKEN,
  Arguments: { FunctionName: "upload", Payload: "{% $states.context.Task.Token %}" },
};
const waiting = machine({ A: { ...token, TimeoutSeconds: 600, End: true } });
/** Longer than a busy machine needs from the start of these executions to the kill. */
const deadlineSeconds = 3;
const machines = {
  running: steps,
  torn: steps,
  damaged: steps,
  redefined: steps,
  submitted: waiting,
  unreturned: waiting,
  answered: machine({
    A: { ...token, Next: "B" },
    B: { ...invoke("second", { End: true }), Arguments: { FunctionName: "second", Payload: "{% $states.input %}" } },
  }),
  wait: machine({ W: { Type: "Wait", Seconds: deadlineSeconds, End: true } }),
  late: machine({
    T: {
      Type: "Task",
      Resource: LAMBDA,
      Arguments: { FunctionName: "late" },
      TimeoutSeconds: deadlineSeconds,
      End: true,
    },
  }),
  flaky: machine({
    A: {
      Type: "Task",
      Resource: LAMBDA,
      Arguments: { FunctionName: "flaky", Payload: "{% $states.context.State.RetryCount %}" },
      Retry: [{ ErrorEquals: ["Flaky"], IntervalSeconds: deadlineSeconds, MaxAttempts: 1 }],
      End: true,
    },
  }),
};

/** A start costs more than an execution, so one kill meets an execution of each machine. */
describe("when the process dies and another one starts", () => {
  const engine = openEngine(machines);
  let after: Awaited<ReturnType<typeof engine.launch>>;
  afterAll(() => engine.remove());

  beforeAll(async () => {
    const before = await engine.launch({
      running: "hang-second",
      torn: "hang-first",
      damaged: "hang-second",
      redefined: "hang-second",
      unreturned: "hang",
      answered: "hang",
      late: "hang",
      flaky: "fail",
    });
    const inSecond = ["running", "damaged", "redefined"];
    for (const name of ["torn", ...inSecond]) await before.start(name, { a: 1 });
    for (const name of ["submitted", "unreturned", "answered"]) await before.start(name);
    await engine.called("torn", "first");
    for (const name of inSecond) await engine.called(name, "second");
    for (const name of ["submitted", "unreturned", "answered"]) await engine.called(name, "upload");
    const journal = (name: string) => readFileSync(engine.journalOf(name), "utf8");
    await vi.waitFor(() => expect(journal("submitted")).toContain('"t":"submitted"'), soon);
    for (const name of ["wait", "late", "flaky"]) await before.start(name);
    await engine.called("late", "late");
    await vi.waitFor(() => expect(journal("flaky")).toContain('"t":"retry"'), soon);
    const startedAt = Date.now();
    const taskToken = engine.callsOf("answered", "upload")[0]?.taskToken;
    await before.client.send(new SendTaskSuccessCommand({ taskToken, output: '"kept"' }));
    await before.kill();

    // None of them had ended.
    for (const name of ["wait", "late", "flaky"]) expect(engine.journalOf(name)).toBeDefined();
    appendFileSync(engine.journalOf("torn"), '{"t":"retry","retr');
    writeFileSync(join(engine.dir, "states", "open", "torn.jsonl"), '{"t":"started","arn":"arn:aws');
    const damaged = engine.journalOf("damaged");
    const [first = "", ...rest] = readFileSync(damaged, "utf8").split("\n");
    writeFileSync(damaged, [first, "garbage", ...rest].join("\n"));
    engine.define({ redefined: machine({ New: { Type: "Succeed", Output: "new" } }) });
    await sleep(startedAt + deadlineSeconds * 1_000 - Date.now());
    after = await engine.launch({ torn: "hang-second", flaky: "fail" });
  });

  test("a Task that was running runs again with the same input and variables", async () => {
    expect(await after.ended("running")).toMatchObject({
      status: "SUCCEEDED",
      output: '{"in":{"in":{"in":{"a":1},"n":1},"n":2},"n":2}',
    });
    expect(engine.callsOf("running", "first")).toHaveLength(1);
    const seconds = engine.callsOf("running", "second").map((call) => call.Payload);
    const second = { in: { in: { a: 1 }, n: 1 }, n: 2 };
    expect(seconds).toEqual([second, second]);
    const events = (status: string) => engine.calls("running").filter((call) => call.event === status);
    expect(events("RUNNING")).toHaveLength(1);
    await expect.poll(() => events("SUCCEEDED").length).toBe(1);
    const history = await after.client.send(new GetExecutionHistoryCommand({ executionArn: arnOf("running") }));
    const entered = history.events?.map((event) => event.stateEnteredEventDetails?.name).filter(Boolean);
    expect(entered).toEqual(["Begin", "First", "Second", "Z"]);
  });

  test("a token stays valid, and a call that had returned is not made again", async () => {
    const taskToken = engine.callsOf("submitted", "upload")[0]?.taskToken;
    await after.client.send(new SendTaskSuccessCommand({ taskToken, output: '"here"' }));
    expect((await after.ended("submitted")).output).toBe('"here"');
    expect(engine.callsOf("submitted", "upload")).toHaveLength(1);
  });

  test("a token call that had not returned is made again with the same token", async () => {
    await engine.called("unreturned", "upload", 2);
    const calls = engine.callsOf("unreturned", "upload");
    const tokens = calls.map((call) => call.taskToken);
    expect(tokens[0]).toBe(tokens[1]);
    expect(calls[1]?.Payload).toBe(tokens[0]);
    await after.client.send(new SendTaskSuccessCommand({ taskToken: tokens[0], output: "1" }));
    await after.ended("unreturned");
  });

  test("an acknowledged answer is not lost", async () => {
    expect((await after.ended("answered")).output).toBe('"kept"');
    const taskToken = engine.callsOf("answered", "upload")[0]?.taskToken;
    const again = new SendTaskSuccessCommand({ taskToken, output: "1" });
    await expect(after.client.send(again)).rejects.toMatchObject({ name: "TaskTimedOut" });
  });

  test("a Wait and a Task's time-out keep their deadlines", async () => {
    const wait = await after.ended("wait");
    expect(wait.status).toBe("SUCCEEDED");
    const waitedMs = (wait.stopDate?.getTime() ?? 0) - (wait.startDate?.getTime() ?? 0);
    expect(waitedMs).toBeGreaterThanOrEqual(deadlineSeconds * 1_000);
    expect(await after.ended("late")).toMatchObject({ status: "FAILED", error: "States.Timeout" });
    expect(engine.callsOf("late", "late")).toHaveLength(1);
  });

  test("retries keep their count", async () => {
    expect(await after.ended("flaky")).toMatchObject({ status: "FAILED", error: "Flaky" });
    expect(engine.callsOf("flaky", "flaky").map((call) => call.Payload)).toEqual([0, 1]);
  });

  test("a journal that is damaged in the middle fails its execution with an error, and no other execution", async () => {
    expect(await after.ended("damaged")).toMatchObject({ status: "FAILED", error: "States.Runtime" });
    await expect.poll(() => engine.calls("damaged").some((call) => call.event === "FAILED")).toBe(true);
    await after.start("undamaged", {}, "damaged");
    expect((await after.ended("undamaged", "damaged")).status).toBe("SUCCEEDED");
  });

  test("an execution continues with the definition that it started with", async () => {
    const { output } = await after.ended("redefined");
    expect(output).toBe('{"in":{"in":{"in":{"a":1},"n":1},"n":2},"n":2}');
    await after.start("new", {}, "redefined");
    expect((await after.ended("new", "redefined")).output).toBe('"new"');
  });

  // The last, because it kills the process once more.
  test("an incomplete last line is cut off, and a journal without a complete first line is deleted", async () => {
    // It has gone on behind the line that was cut off.
    await engine.called("torn", "second");
    const torn = engine.journalOf("torn");
    await after.kill();
    const last = await engine.launch();
    expect(await last.ended("torn")).toMatchObject({
      status: "SUCCEEDED",
      output: '{"in":{"in":{"in":{"a":1},"n":1},"n":2},"n":2}',
    });
    const journals = () => engine.journals().filter((path) => path === torn || path.endsWith("torn.jsonl"));
    await expect.poll(journals).toEqual([]);
  });
});

test("after repeated kills at any moment no execution is lost and none is answered twice", async () => {
  const engine = openEngine({
    slow: machine({
      Begin: { Type: "Pass", Assign: { n: 0 }, Next: "First" },
      First: invoke("slow", { Assign: { n: "{% $n + 1 %}" }, Output: "{% $states.input %}", Next: "More" }),
      More: { Type: "Choice", Choices: [{ Condition: "{% $n < 4 %}", Next: "First" }], Default: "Z" },
      Z: { Type: "Succeed", Output: "{% [$states.input, $n] %}" },
    }),
  });
  onTestFinished(engine.remove);
  const names: string[] = [];
  for (let round = 0; round < 5; round++) {
    const running = await engine.launch();
    for (let i = 0; i < 8; i++) {
      const name = `r${round}-${i}`;
      await running.start(name, name, "slow");
      names.push(name);
    }
    await sleep(20 * round);
    await running.kill();
  }
  const last = await engine.launch();
  for (const name of names) expect((await last.ended(name, "slow")).output).toBe(JSON.stringify([name, 4]));
  const list = new ListExecutionsCommand({ stateMachineArn: machineArn("slow"), statusFilter: "SUCCEEDED" });
  expect((await last.client.send(list)).executions).toHaveLength(names.length);
  await expect.poll(() => engine.journals()).toEqual([]);
  const ends = engine.calls().filter((call) => call.event === "SUCCEEDED");
  expect(new Set(ends.map((call) => call.executionArn)).size).toBe(names.length);
  expect(new Set(ends.map((call) => call.id)).size).toBe(names.length);
});
