import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DescribeExecutionCommand,
  type DescribeExecutionCommandOutput,
  GetExecutionHistoryCommand,
  SFNClient,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import { onTestFinished } from "vitest";
import { startAwsServer } from "../../../local/aws/server.ts";
import type { StepFunctionsBehavior } from "../../../local/stepfunctions/behavior.ts";
import type { Schedule } from "../../../local/stepfunctions/interpreter/clock.ts";
import { TaskError } from "../../../local/stepfunctions/interpreter/errors.ts";
import { type Integrations, lambdaResult } from "../../../local/stepfunctions/interpreter/resources.ts";
import type { StatusChangeEvent } from "../../../local/stepfunctions/interpreter/status-event.ts";
import { createStepFunctions, type StepFunctions } from "../../../local/stepfunctions/server.ts";
import { testKey, testKeys } from "../../harness/signing.ts";

export const REGION = "us-east-1";
export const MACHINE_ARN = `arn:aws:states:${REGION}:123456789012:stateMachine:deployment`;
export const LAMBDA = "arn:aws:states:::lambda:invoke";
export const LAMBDA_TOKEN = "arn:aws:states:::lambda:invoke.waitForTaskToken";
export const START_BUILD = "arn:aws:states:::codebuild:startBuild.sync";

/** A clock that moves only with `advance`, or, with `auto`, jumps to the next timer by itself. */
export interface VirtualClock {
  now: () => Date;
  schedule: Schedule;
  advance(ms: number): Promise<void>;
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

export function virtualClock(auto: boolean): VirtualClock {
  let now = Date.parse("2026-03-01T12:00:00Z");
  const timers = new Set<{ due: number; run: () => void }>();
  const earliest = () => [...timers].sort((a, b) => a.due - b.due)[0];
  const fire = (timer: { due: number; run: () => void }) => {
    timers.delete(timer);
    now = Math.max(now, timer.due);
    timer.run();
  };
  const jump = () => {
    const timer = earliest();
    if (timer) fire(timer);
  };
  return {
    now: () => new Date(now),
    schedule(run, afterMs) {
      const timer = { due: now + afterMs, run };
      timers.add(timer);
      if (auto) turns(3).then(jump);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const target = now + ms;
      for (let timer = earliest(); timer && timer.due <= target; timer = earliest()) {
        fire(timer);
        await turns(5);
      }
      now = target;
      await turns(5);
    },
  };
}

export interface Local {
  client: SFNClient;
  sfn: StepFunctions;
  events: StatusChangeEvent[];
  dir: string;
  start(input?: unknown, name?: string): Promise<string>;
  /** Starts an execution and returns its description after it has ended or waits. */
  run(input?: unknown): Promise<DescribeExecutionCommandOutput>;
  describe(executionArn: string): Promise<DescribeExecutionCommandOutput>;
  history(executionArn: string): Promise<string[]>;
}

/** The Lambda functions of the tests, by name. */
export function lambdas(functions: Record<string, (payload: unknown) => unknown>): Integrations {
  return {
    async [LAMBDA](args) {
      const { FunctionName, Payload } = args as { FunctionName: string; Payload: unknown };
      const run = functions[FunctionName];
      if (!run) throw new TaskError("Lambda.ResourceNotFoundException", FunctionName);
      return lambdaResult(await run(Payload));
    },
  };
}

export function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "stepfunctions-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Starts the real service over HTTP for one test; with `resume: false` the executions in `dir` are not resumed. */
export async function startLocal(options: {
  definition: unknown;
  integrations?: Integrations;
  clock?: VirtualClock;
  dir?: string;
  resume?: boolean;
  onStatusChange?: (event: StatusChangeEvent) => Promise<void>;
  behavior?: StepFunctionsBehavior;
}): Promise<Local> {
  const dir = options.dir ?? temporaryDir();
  const events: StatusChangeEvent[] = [];
  const sfn = createStepFunctions({
    dir,
    stateMachines: [{ arn: MACHINE_ARN, definition: options.definition }],
    integrations: options.integrations ?? lambdas({}),
    onStatusChange: async (event) => {
      await options.onStatusChange?.(event);
      events.push(event);
    },
    behavior: options.behavior,
    ...(options.clock && { now: options.clock.now, schedule: options.clock.schedule }),
  });
  const server = await startAwsServer({ json: [sfn.service], credentials: testKeys });
  const client = new SFNClient({
    region: REGION,
    endpoint: server.endpoint,
    credentials: testKey,
    maxAttempts: 1,
  });
  onTestFinished(async () => {
    await sfn.close();
    client.destroy();
    await server.close();
  });
  if (options.resume !== false) await sfn.resume();
  const describe = (executionArn: string) => client.send(new DescribeExecutionCommand({ executionArn }));
  const start = async (input: unknown = {}, name?: string) => {
    const command = new StartExecutionCommand({ stateMachineArn: MACHINE_ARN, input: JSON.stringify(input), name });
    return (await client.send(command)).executionArn ?? "";
  };
  return {
    client,
    sfn,
    events,
    dir,
    start,
    describe,
    async run(input) {
      const arn = await start(input);
      await sfn.idle();
      return describe(arn);
    },
    async history(executionArn) {
      const { events: found } = await client.send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1_000 }));
      return (found ?? []).map((event) => event.type ?? "");
    },
  };
}

/** A JSONata machine of the given states, which starts at the first one. */
export function machine(states: Record<string, unknown>, more: Record<string, unknown> = {}): unknown {
  return { QueryLanguage: "JSONata", StartAt: Object.keys(states)[0], States: states, ...more };
}
