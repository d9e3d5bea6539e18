import {
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  type ExecutionStatus,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  SendTaskSuccessCommand,
  StartExecutionCommand,
  StopExecutionCommand,
} from "@aws-sdk/client-sfn";
import { expect, test } from "vitest";
import { type Integrations, lambdaResult } from "../../../local/stepfunctions/interpreter/resources.ts";
import { LAMBDA, LAMBDA_TOKEN, type Local, MACHINE_ARN, machine, startLocal } from "./harness.ts";

const waiting = machine({
  A: { Type: "Choice", Choices: [{ Condition: "{% $states.input.end = true %}", Next: "Z" }], Default: "B" },
  B: { Type: "Task", Resource: LAMBDA_TOKEN, Arguments: { FunctionName: "f" }, Next: "Z" },
  Z: { Type: "Succeed" },
});
const integrations: Integrations = { [LAMBDA]: async () => lambdaResult(null) };

const start = (local: Local, more: { name?: string; input?: string; stateMachineArn?: string } = {}) =>
  local.client.send(new StartExecutionCommand({ stateMachineArn: MACHINE_ARN, ...more }));

test("starting is idempotent by name: the same input while it runs gives the same answer", async () => {
  const local = await startLocal({ definition: waiting, integrations });
  const first = await start(local, { name: "bld_1", input: '{"a":1}' });
  const again = await start(local, { name: "bld_1", input: '{"a":1}' });
  expect([again.executionArn, again.startDate]).toEqual([first.executionArn, first.startDate]);
  expect(first.executionArn).toBe("arn:aws:states:us-east-1:123456789012:execution:deployment:bld_1");
  await expect(start(local, { name: "bld_1", input: '{"a":2}' })).rejects.toMatchObject({
    name: "ExecutionAlreadyExists",
    message: `Execution Already Exists: '${first.executionArn}'`,
  });
  await local.sfn.idle();
  expect(local.events.filter((event) => event.detail.status === "RUNNING")).toHaveLength(1);
});

test("the name of a closed execution cannot be used again, with any input", async () => {
  const local = await startLocal({ definition: waiting, integrations });
  await start(local, { name: "once", input: '{"end":true}' });
  await local.sfn.idle();
  const again = start(local, { name: "once", input: '{"end":true}' });
  await expect(again).rejects.toMatchObject({ name: "ExecutionAlreadyExists" });
});

test("two starts of one name at the same moment make one execution", async () => {
  const local = await startLocal({ definition: waiting, integrations });
  const input = '{"end":true}';
  const answers = await Promise.allSettled([1, 2, 3, 4].map(() => start(local, { name: "same", input })));
  expect(answers.some((answer) => answer.status === "fulfilled")).toBe(true);
  const { executions } = await local.client.send(new ListExecutionsCommand({ stateMachineArn: MACHINE_ARN }));
  expect(executions).toHaveLength(1);
});

test("names and inputs are checked as on AWS", async () => {
  const local = await startLocal({ definition: waiting, integrations });
  for (const name of ["a b", "a/b", "a:b", "a*b", "a\tb", "..\\x", "a\u0007"]) {
    await expect(start(local, { name }), name).rejects.toMatchObject({ name: "InvalidName" });
  }
  for (const name of ["..", "A", "a", "a-b_c.d", "ärger", "x".repeat(80)]) {
    expect((await start(local, { name, input: '{"end":true}' })).executionArn).toMatch(/:deployment:./);
  }
  await expect(start(local, { name: "x".repeat(81) })).rejects.toMatchObject({ name: "ValidationException" });
  for (const input of ["{", "", `"${"x".repeat(262_144)}"`]) {
    await expect(start(local, { input })).rejects.toMatchObject({ name: "InvalidExecutionInput" });
  }
  const other = "arn:aws:states:us-east-1:123456789012:stateMachine:other";
  await expect(start(local, { stateMachineArn: other })).rejects.toMatchObject({
    name: "StateMachineDoesNotExist",
    message: `State Machine Does Not Exist: '${other}'`,
  });
  await expect(start(local, { stateMachineArn: "deployment" })).rejects.toMatchObject({ name: "InvalidArn" });
});

test("names that a file system might confuse belong to different executions", async () => {
  const local = await startLocal({ definition: waiting, integrations });
  for (const name of ["Build", "build", "bu_ld", "büld"]) await local.start({ end: true, name }, name);
  await local.sfn.idle();
  for (const name of ["Build", "build", "bu_ld", "büld"]) {
    const arn = `arn:aws:states:us-east-1:123456789012:execution:deployment:${name}`;
    expect(JSON.parse((await local.describe(arn)).output ?? "")).toEqual({ end: true, name });
  }
});

test("an unknown execution is ExecutionDoesNotExist, and an invalid ARN is InvalidArn", async () => {
  const local = await startLocal({ definition: waiting });
  const executionArn = "arn:aws:states:us-east-1:123456789012:execution:deployment:nobody";
  for (const [arn, name] of [
    [executionArn, "ExecutionDoesNotExist"],
    ["nobody", "InvalidArn"],
  ] as const) {
    for (const command of [
      new DescribeExecutionCommand({ executionArn: arn }),
      new StopExecutionCommand({ executionArn: arn }),
      new GetExecutionHistoryCommand({ executionArn: arn }),
    ]) {
      await expect(local.client.send(command as DescribeExecutionCommand)).rejects.toMatchObject({ name });
    }
  }
});

test("stopping aborts the running call and is final; stopping again changes nothing", async () => {
  const aborted: boolean[] = [];
  const hanging: Integrations = {
    [LAMBDA]: (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(aborted.push(signal.aborted)))),
  };
  const states = {
    A: {
      Type: "Task",
      Resource: LAMBDA,
      Arguments: { FunctionName: "f" },
      Retry: [{ ErrorEquals: ["States.ALL"] }],
      Catch: [{ ErrorEquals: ["States.ALL"], Next: "Z" }],
      Next: "Z",
    },
    Z: { Type: "Succeed" },
  };
  const local = await startLocal({ definition: machine(states), integrations: hanging });
  const executionArn = await local.start();
  const stop = new StopExecutionCommand({ executionArn, error: "Canceled", cause: "by its owner" });
  const { stopDate } = await local.client.send(stop);
  await local.sfn.idle();
  const ended = { status: "ABORTED", error: "Canceled", cause: "by its owner", stopDate };
  expect(await local.describe(executionArn)).toMatchObject(ended);
  expect((await local.client.send(new StopExecutionCommand({ executionArn }))).stopDate).toEqual(stopDate);
  expect(await local.describe(executionArn)).toMatchObject(ended);
  expect(aborted).toEqual([true]);
  expect((await local.history(executionArn)).at(-1)).toBe("ExecutionAborted");
});

test("a stopped execution's token is TaskTimedOut", async () => {
  const tokens: string[] = [];
  const keeping: Integrations = { [LAMBDA]: async (_, { taskToken }) => tokens.push(taskToken ?? "") };
  const local = await startLocal({ definition: waiting, integrations: keeping });
  const executionArn = await local.start();
  await local.sfn.idle();
  await local.client.send(new StopExecutionCommand({ executionArn }));
  const success = new SendTaskSuccessCommand({ taskToken: tokens[0], output: "{}" });
  await expect(local.client.send(success)).rejects.toMatchObject({ name: "TaskTimedOut" });
});

test("lists are newest first, filtered by status, page by page, and a page token of another list is refused", async () => {
  const local = await startLocal({ definition: waiting, integrations });
  const names: string[] = [];
  for (let i = 0; i < 7; i++) {
    await local.start({ end: i % 2 === 0 }, `n${i}`);
    names.unshift(`n${i}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await local.sfn.idle();
  const list = async (statusFilter?: ExecutionStatus, nextToken?: string): Promise<(string | undefined)[]> => {
    const command = new ListExecutionsCommand({ stateMachineArn: MACHINE_ARN, maxResults: 2, statusFilter, nextToken });
    const page = await local.client.send(command);
    const found = (page.executions ?? []).map((execution) => execution.name);
    expect(found.length).toBeLessThanOrEqual(2);
    return page.nextToken ? [...found, ...(await list(statusFilter, page.nextToken))] : found;
  };
  expect(await list()).toEqual(names);
  expect(await list("SUCCEEDED")).toEqual(["n6", "n4", "n2", "n0"]);
  expect(await list("RUNNING")).toEqual(["n5", "n3", "n1"]);
  expect(await list("FAILED")).toEqual([]);
  const all = { stateMachineArn: MACHINE_ARN, maxResults: 2 };
  const { nextToken } = await local.client.send(new ListExecutionsCommand(all));
  const mixed = new ListExecutionsCommand({ ...all, statusFilter: "RUNNING", nextToken });
  await expect(local.client.send(mixed)).rejects.toMatchObject({ name: "InvalidToken" });
});

test("the history has the states that were entered and exited, and how the execution ended", async () => {
  const local = await startLocal({ definition: waiting, integrations });
  const arn = await local.start({ end: true });
  await local.sfn.idle();
  expect(await local.history(arn)).toEqual([
    ...["ExecutionStarted", "ChoiceStateEntered", "ChoiceStateExited"],
    ...["SucceedStateEntered", "SucceedStateExited", "ExecutionSucceeded"],
  ]);
  const newest = new GetExecutionHistoryCommand({ executionArn: arn, reverseOrder: true, maxResults: 3 });
  const { events, nextToken } = await local.client.send(newest);
  expect(events?.map((event) => event.id)).toEqual([6, 5, 4]);
  expect(events?.[2]?.stateEnteredEventDetails?.name).toBe("Z");
  expect(nextToken).toBeDefined();
});

test("the machine is described with its definition", async () => {
  const local = await startLocal({ definition: waiting, integrations });
  const found = await local.client.send(new DescribeStateMachineCommand({ stateMachineArn: MACHINE_ARN }));
  expect(found).toMatchObject({ name: "deployment", type: "STANDARD", status: "ACTIVE" });
  expect(JSON.parse(found.definition ?? "")).toEqual(waiting);
});

test("after close every call is refused", async () => {
  const local = await startLocal({ definition: waiting, integrations });
  const arn = await local.start();
  await local.sfn.close();
  await expect(local.describe(arn)).rejects.toMatchObject({ name: "ServiceUnavailable" });
});
