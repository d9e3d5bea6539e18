import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import { expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { testKey } from "../../harness/signing.ts";
import { LAMBDA, LAMBDA_TOKEN, MACHINE_ARN, machine, REGION, temporaryDir } from "./harness.ts";

// Each test starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const callSchema = z.object({
  mode: z.string(),
  FunctionName: z.string().optional(),
  Payload: z.unknown().optional(),
  taskToken: z.string().optional(),
  event: z.string().optional(),
  id: z.string().optional(),
  executionArn: z.string(),
});

const arnOf = (name: string) => `${MACHINE_ARN.replace("stateMachine", "execution")}:${name}`;

/** A folder whose engine can be killed and started again. */
function engineIn(dir: string, definition: unknown) {
  const define = (next: unknown) =>
    writeFileSync(join(dir, "machines.json"), JSON.stringify([{ arn: MACHINE_ARN, definition: next }]));
  define(definition);
  const script = join(import.meta.dirname, "engine-process.ts");
  return {
    define,
    async launch(mode: string) {
      const child: ChildProcess = spawn(process.execPath, [script, dir, mode], { stdio: ["pipe", "pipe", "inherit"] });
      if (!child.stdout) throw new Error("no standard output");
      const [endpoint] = await once(createInterface(child.stdout), "line");
      const client = new SFNClient({
        region: REGION,
        endpoint: String(endpoint),
        credentials: testKey,
        maxAttempts: 1,
      });
      const kill = async () => {
        client.destroy();
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill("SIGKILL");
        await once(child, "exit");
      };
      onTestFinished(kill);
      return {
        client,
        kill,
        start: (name: string, input: unknown = {}) =>
          client.send(new StartExecutionCommand({ stateMachineArn: MACHINE_ARN, name, input: JSON.stringify(input) })),
        describe: (name: string) => client.send(new DescribeExecutionCommand({ executionArn: arnOf(name) })),
        ended: (name: string) =>
          expect
            .poll(async () => (await client.send(new DescribeExecutionCommand({ executionArn: arnOf(name) }))).status, {
              timeout: 50_000,
            })
            .not.toBe("RUNNING"),
      };
    },
    calls(name?: string) {
      const path = join(dir, "calls.jsonl");
      const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
      const all = lines.map((line) => callSchema.parse(JSON.parse(line)));
      return name === undefined ? all : all.filter((call) => call.FunctionName === name);
    },
    called: async function (name: string, times: number) {
      await expect.poll(() => this.calls(name).length, { timeout: 50_000 }).toBeGreaterThanOrEqual(times);
    },
    journals: () => readdirSync(join(dir, "states", "open")).map((name) => join(dir, "states", "open", name)),
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

test("a Task that was running when the process died runs again with the same input and variables", async () => {
  const engine = engineIn(temporaryDir(), steps);
  const before = await engine.launch("hang-second");
  await before.start("one", { a: 1 });
  await engine.called("second", 1);
  await before.kill();

  const after = await engine.launch("well");
  await after.ended("one");
  expect(await after.describe("one")).toMatchObject({
    status: "SUCCEEDED",
    output: '{"in":{"in":{"in":{"a":1},"n":1},"n":2},"n":2}',
  });
  expect(engine.calls("first")).toHaveLength(1);
  const seconds = engine.calls("second").map((call) => call.Payload);
  const second = { in: { in: { a: 1 }, n: 1 }, n: 2 };
  expect(seconds).toEqual([second, second]);
  expect(engine.calls().filter((call) => call.event === "RUNNING")).toHaveLength(1);
  await expect.poll(() => engine.calls().filter((call) => call.event === "SUCCEEDED").length).toBe(1);
  const history = await after.client.send(new GetExecutionHistoryCommand({ executionArn: arnOf("one") }));
  const entered = history.events?.map((event) => event.stateEnteredEventDetails?.name).filter(Boolean);
  expect(entered).toEqual(["Begin", "First", "Second", "Z"]);
});

const waiting = machine({
  A: {
    Type: "Task",
    Resource: LAMBDA_TOKEN,
    Arguments: { FunctionName: "upload", Payload: "{% $states.context.Task.Token %}" },
    TimeoutSeconds: 600,
    End: true,
  },
});

test("a token stays valid after a crash, and a call that had returned is not made again", async () => {
  const engine = engineIn(temporaryDir(), waiting);
  const before = await engine.launch("well");
  await before.start("one");
  await engine.called("upload", 1);
  const journal = () =>
    engine
      .journals()
      .map((path) => readFileSync(path, "utf8"))
      .join("");
  await expect.poll(journal).toContain('"t":"submitted"');
  await before.kill();

  const after = await engine.launch("well");
  const taskToken = engine.calls("upload")[0]?.taskToken;
  await after.client.send(new SendTaskSuccessCommand({ taskToken, output: '"here"' }));
  await after.ended("one");
  expect((await after.describe("one")).output).toBe('"here"');
  expect(engine.calls("upload")).toHaveLength(1);
});

test("a token call that had not returned is made again with the same token", async () => {
  const engine = engineIn(temporaryDir(), waiting);
  const before = await engine.launch("hang");
  await before.start("one");
  await engine.called("upload", 1);
  await before.kill();

  const after = await engine.launch("well");
  await engine.called("upload", 2);
  const tokens = engine.calls("upload").map((call) => call.taskToken);
  expect(tokens[0]).toBe(tokens[1]);
  expect(engine.calls("upload")[1]?.Payload).toBe(tokens[0]);
  await after.client.send(new SendTaskSuccessCommand({ taskToken: tokens[0], output: "1" }));
  await after.ended("one");
});

test("an acknowledged answer is not lost if the process dies at once", async () => {
  const engine = engineIn(
    temporaryDir(),
    machine({
      A: {
        Type: "Task",
        Resource: LAMBDA_TOKEN,
        Arguments: { FunctionName: "upload", Payload: "{% $states.context.Task.Token %}" },
        Next: "B",
      },
      B: { ...invoke("second", { End: true }), Arguments: { FunctionName: "second", Payload: "{% $states.input %}" } },
    }),
  );
  const before = await engine.launch("hang");
  await before.start("one");
  await engine.called("upload", 1);
  const taskToken = engine.calls("upload")[0]?.taskToken;
  await before.client.send(new SendTaskSuccessCommand({ taskToken, output: '"kept"' }));
  await before.kill();

  const after = await engine.launch("well");
  await after.ended("one");
  expect((await after.describe("one")).output).toBe('"kept"');
  const again = new SendTaskSuccessCommand({ taskToken, output: "1" });
  await expect(after.client.send(again)).rejects.toMatchObject({ name: "TaskTimedOut" });
});

test("a Wait and a Task's time-out keep their deadlines", async () => {
  const engine = engineIn(
    temporaryDir(),
    machine({
      A: { Type: "Choice", Choices: [{ Condition: "{% $states.input = 'wait' %}", Next: "W" }], Default: "T" },
      W: { Type: "Wait", Seconds: 1, End: true },
      T: {
        Type: "Task",
        Resource: LAMBDA,
        Arguments: { FunctionName: "late" },
        TimeoutSeconds: 1,
        End: true,
      },
    }),
  );
  const before = await engine.launch("hang");
  await before.start("wait", "wait");
  await before.start("late", "late");
  await engine.called("late", 1);
  await before.kill();
  await new Promise((resolve) => setTimeout(resolve, 1_000));

  const after = await engine.launch("well");
  await after.ended("wait");
  await after.ended("late");
  const wait = await after.describe("wait");
  expect(wait.status).toBe("SUCCEEDED");
  expect((wait.stopDate?.getTime() ?? 0) - (wait.startDate?.getTime() ?? 0)).toBeGreaterThanOrEqual(1_000);
  expect(await after.describe("late")).toMatchObject({ status: "FAILED", error: "States.Timeout" });
  expect(engine.calls("late")).toHaveLength(1);
});

test("retries keep their count", async () => {
  const states = {
    A: {
      Type: "Task",
      Resource: LAMBDA,
      Arguments: { FunctionName: "flaky", Payload: "{% $states.context.State.RetryCount %}" },
      Retry: [{ ErrorEquals: ["Flaky"], IntervalSeconds: 2, MaxAttempts: 1 }],
      End: true,
    },
  };
  const engine = engineIn(temporaryDir(), machine(states));
  const before = await engine.launch("fail");
  await before.start("one");
  const journal = () =>
    engine
      .journals()
      .map((path) => readFileSync(path, "utf8"))
      .join("");
  await expect.poll(journal).toContain('"t":"retry"');
  await before.kill();
  const after = await engine.launch("fail");
  await after.ended("one");
  expect(await after.describe("one")).toMatchObject({ status: "FAILED", error: "Flaky" });
  expect(engine.calls("flaky").map((call) => call.Payload)).toEqual([0, 1]);
});

test("an incomplete last line is cut off, and a journal without a complete first line is deleted", async () => {
  const dir = temporaryDir();
  const engine = engineIn(dir, steps);
  const before = await engine.launch("hang-second");
  await before.start("one", { a: 1 });
  await engine.called("second", 1);
  await before.kill();
  for (const path of engine.journals()) appendFileSync(path, '{"t":"retry","retr');
  writeFileSync(join(dir, "states", "open", "torn.jsonl"), '{"t":"started","arn":"arn:aws');

  const between = await engine.launch("hang-second");
  await engine.called("second", 2);
  await between.kill();
  const after = await engine.launch("well");
  await after.ended("one");
  expect(await after.describe("one")).toMatchObject({
    status: "SUCCEEDED",
    output: '{"in":{"in":{"in":{"a":1},"n":1},"n":2},"n":2}',
  });
  await expect.poll(() => engine.journals()).toEqual([]);
});

test("a journal that is damaged in the middle fails its execution with an error, and no other execution", async () => {
  const engine = engineIn(temporaryDir(), steps);
  const before = await engine.launch("hang-second");
  await before.start("one");
  await engine.called("second", 1);
  await before.kill();
  for (const path of engine.journals()) {
    const [first = "", ...rest] = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, [first, "garbage", ...rest].join("\n"));
  }
  const after = await engine.launch("well");
  await after.ended("one");
  expect(await after.describe("one")).toMatchObject({ status: "FAILED", error: "States.Runtime" });
  await expect.poll(() => engine.calls().some((call) => call.event === "FAILED")).toBe(true);
  await after.start("two");
  await after.ended("two");
  expect((await after.describe("two")).status).toBe("SUCCEEDED");
});

test("an execution continues with the definition that it started with", async () => {
  const engine = engineIn(temporaryDir(), steps);
  const before = await engine.launch("hang-second");
  await before.start("one");
  await engine.called("second", 1);
  await before.kill();
  engine.define(machine({ New: { Type: "Succeed", Output: "new" } }));
  const after = await engine.launch("well");
  await after.ended("one");
  expect((await after.describe("one")).output).toBe('{"in":{"in":{"in":{},"n":1},"n":2},"n":2}');
  await after.start("two");
  await after.ended("two");
  expect((await after.describe("two")).output).toBe('"new"');
});

test("after repeated kills at any moment no execution is lost and none is answered twice", {
  timeout: 60_000,
}, async () => {
  const dir = temporaryDir();
  const engine = engineIn(
    dir,
    machine({
      Begin: { Type: "Pass", Assign: { n: 0 }, Next: "First" },
      First: invoke("slow", { Assign: { n: "{% $n + 1 %}" }, Output: "{% $states.input %}", Next: "More" }),
      More: { Type: "Choice", Choices: [{ Condition: "{% $n < 4 %}", Next: "First" }], Default: "Z" },
      Z: { Type: "Succeed", Output: "{% [$states.input, $n] %}" },
    }),
  );
  const names: string[] = [];
  for (let round = 0; round < 5; round++) {
    const running = await engine.launch("well");
    for (let i = 0; i < 8; i++) {
      const name = `r${round}-${i}`;
      await running.start(name, name);
      names.push(name);
    }
    await new Promise((resolve) => setTimeout(resolve, 20 * round));
    await running.kill();
  }
  const last = await engine.launch("well");
  for (const name of names) {
    await last.ended(name);
    expect((await last.describe(name)).output).toBe(JSON.stringify([name, 4]));
  }
  const list = new ListExecutionsCommand({ stateMachineArn: MACHINE_ARN, statusFilter: "SUCCEEDED" });
  expect((await last.client.send(list)).executions).toHaveLength(names.length);
  await expect.poll(() => engine.journals()).toEqual([]);
  const ends = engine.calls().filter((call) => call.event === "SUCCEEDED");
  expect(new Set(ends.map((call) => call.executionArn)).size).toBe(names.length);
  expect(new Set(ends.map((call) => call.id)).size).toBe(names.length);
});
