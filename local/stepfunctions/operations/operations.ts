import { randomUUID } from "node:crypto";
import * as z from "zod";
import { AwsError, type Operation, operation } from "../../aws/service.ts";
import type { Engine } from "../interpreter/engine.ts";
import type { Ending } from "../store/journal.ts";
import { getExecutionHistory, listExecutions } from "./history.ts";
import { arnText, checkArn, date, findExecution, isPayload, type Registered } from "./lookup.ts";
import { taskOperations } from "./task-tokens.ts";

const NAME_SPECIAL = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}\p{Cs}\ufffe\uffff]/u;

function startExecution(engine: Engine, machines: (arn: string) => Registered): Operation {
  const schema = z.object({
    stateMachineArn: arnText,
    name: z.string().min(1).max(80).optional(),
    input: z.string().default("{}"),
    traceHeader: z.string().optional(),
  });
  return operation(schema, ({ stateMachineArn, name = randomUUID(), input }) => {
    const { machine, roleArn } = machines(stateMachineArn);
    if (NAME_SPECIAL.test(name)) throw new AwsError("InvalidName", `Invalid Name: '${name}'`);
    if (!isPayload(input)) {
      throw new AwsError(
        "InvalidExecutionInput",
        "Invalid State Machine Execution Input: not JSON, or longer than 262144 bytes",
      );
    }
    const arn = `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${name}`;
    const running = engine.open.get(arn);
    if (running?.identity.input === input) {
      return { executionArn: arn, startDate: date(running.identity.startedAt) };
    }
    if (running || engine.archive.find(arn)) {
      throw new AwsError("ExecutionAlreadyExists", `Execution Already Exists: '${arn}'`);
    }
    const { identity } = engine.start({ arn, stateMachineArn, name, input, roleArn }, machine);
    return { executionArn: arn, startDate: date(identity.startedAt) };
  });
}

/** The redrive status that AWS would return; the local service has no RedriveExecution. */
function redrive(status: Ending["status"] | undefined): object {
  if (status !== undefined && status !== "SUCCEEDED") return { redriveStatus: "REDRIVABLE" };
  const reason = `Execution is ${status ?? "RUNNING"} and cannot be redriven`;
  return { redriveStatus: "NOT_REDRIVABLE", redriveStatusReason: reason };
}

function describeExecution(engine: Engine): Operation {
  const schema = z.object({ executionArn: arnText, includedData: z.enum(["ALL_DATA", "METADATA_ONLY"]).optional() });
  return operation(schema, ({ executionArn, includedData }) => {
    const { identity, ending } = findExecution(engine, executionArn);
    const data = { input: identity.input, ...(ending?.output === undefined ? {} : { output: ending.output }) };
    return {
      executionArn,
      stateMachineArn: identity.stateMachineArn,
      name: identity.name,
      status: ending?.status ?? "RUNNING",
      startDate: date(identity.startedAt),
      redriveCount: 0,
      ...redrive(ending?.status),
      ...(includedData === "METADATA_ONLY" ? {} : { ...data, inputDetails: { included: true } }),
      ...(ending && { stopDate: date(ending.stoppedAt), error: ending.error, cause: ending.cause }),
    };
  });
}

function stopExecution(engine: Engine): Operation {
  const schema = z.object({
    executionArn: arnText,
    error: z.string().max(256).optional(),
    cause: z.string().max(32_768).optional(),
  });
  return operation(schema, ({ executionArn, error, cause }) => {
    const { ending } = findExecution(engine, executionArn);
    const running = engine.open.get(executionArn);
    if (running) {
      const reason = { ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) };
      engine.end(running, { status: "ABORTED", ...reason });
    }
    return { stopDate: date((running?.ending ?? ending)?.stoppedAt ?? 0) };
  });
}

function describeStateMachine(machines: (arn: string) => Registered): Operation {
  const schema = z.object({ stateMachineArn: arnText, includedData: z.enum(["ALL_DATA", "METADATA_ONLY"]).optional() });
  return operation(schema, ({ stateMachineArn }) => {
    const { machine, roleArn, createdAt } = machines(stateMachineArn);
    return {
      stateMachineArn,
      name: stateMachineArn.split(":").at(-1),
      status: "ACTIVE",
      type: "STANDARD",
      definition: machine.text,
      roleArn,
      creationDate: date(createdAt),
      loggingConfiguration: { level: "OFF", includeExecutionData: false },
      tracingConfiguration: { enabled: false },
    };
  });
}

/** The operations of the Step Functions API, with the error names and messages of AWS. */
export function createOperations(engine: Engine, registered: Registered[]): Record<string, Operation> {
  const byArn = new Map(registered.map((entry) => [entry.arn, entry]));
  const machines = (arn: string): Registered => {
    checkArn(arn, "stateMachine");
    const found = byArn.get(arn);
    if (!found) throw new AwsError("StateMachineDoesNotExist", `State Machine Does Not Exist: '${arn}'`);
    return found;
  };
  return {
    StartExecution: startExecution(engine, machines),
    DescribeExecution: describeExecution(engine),
    StopExecution: stopExecution(engine),
    ListExecutions: listExecutions(engine, machines),
    GetExecutionHistory: getExecutionHistory(engine),
    DescribeStateMachine: describeStateMachine(machines),
    ...taskOperations(engine),
  };
}
