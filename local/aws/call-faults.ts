import { setTimeout as delay } from "node:timers/promises";
import { AwsError, type JsonService, type Operation } from "./service.ts";

export type ServiceName =
  | "CloudWatch"
  | "CodeBuild"
  | "DynamoDB"
  | "ECR"
  | "ECS"
  | "Lambda"
  | "Logs"
  | "S3"
  | "STS"
  | "StepFunctions";

/** One call to an embedded service. */
export interface AwsCall {
  service: ServiceName;
  operation: string;
  /** The request's body, or its path if S3 is called. */
  input: string;
  /** The input of the call whose answer first named the task or the route of this one: their ids name no service. */
  origin?: string | undefined;
}

/** A fault of a call that AWS documents. Each service answers it with its own error. */
export type CallFault =
  /** Refused because there were too many calls; not executed. */
  | { kind: "throttled" }
  /** The service failed (500); not executed. */
  | { kind: "failed" }
  /** Refused with this error; not executed. */
  | { kind: "refused"; code: string }
  /** A DynamoDB transaction that conflicts with another one; other calls are throttled. */
  | { kind: "conflict" }
  /** Executed, and answered after this time. */
  | { kind: "late"; ms: number }
  /** Executed, and the connection breaks before the answer. */
  | { kind: "lost" }
  /** A read of ECS that shows an earlier state, or that nothing exists yet; other calls have no fault. */
  | { kind: "stale"; isEmpty?: boolean };

/** Chooses the fault of a call; undefined for none. */
export type Faults = (call: AwsCall) => CallFault | undefined;

/** The answer of a call is lost: the server closes the connection. */
export class AnswerLost extends Error {}

/** Runs a call with a fault; `errorOf` gives the service's error of a call that is not executed. */
export async function runWithFault<T>(
  fault: CallFault | undefined,
  run: () => Promise<T>,
  errorOf: (fault: CallFault) => Error,
): Promise<T> {
  switch (fault?.kind) {
    case undefined:
    case "stale":
      return run();
    case "late": {
      const answer = await run();
      await delay(fault.ms, undefined, { ref: false });
      return answer;
    }
    case "lost":
      await run();
      throw new AnswerLost();
    case "throttled":
    case "failed":
    case "refused":
    case "conflict":
      throw errorOf(fault);
  }
}

/** The error of a JSON service for a fault. */
function jsonFaultError(fault: CallFault): AwsError {
  if (fault.kind === "refused") return new AwsError(fault.code, "The call was refused.");
  if (fault.kind === "failed") return new AwsError("ServerException", "The service failed.", 500);
  return new AwsError("ThrottlingException", "Rate exceeded");
}

/** A request to a service, without the parts that differ between two equal requests. */
function questionOf(operation: string, input: unknown): string {
  const { nextToken: _, createdAt: __, ...question } = Object(input);
  return `${operation} ${JSON.stringify(question)}`;
}

/** The calls whose answers contain ids of tasks or routes. */
const naming = ["ListGatewayRoutes", "ListTasks", "RunTask"];
const idsIn = (text: string) => text.match(/gateway-route\/[^"]+|[0-9a-f]{32}(?=")/g) ?? [];

/**
 * Adds faults to the operations of a JSON service. A stale read gets the last answer to the same request, or the answer
 * from before the resource existed.
 */
export function withFaults(name: ServiceName, service: JsonService, faults: Faults | undefined): JsonService {
  if (!faults) return service;
  const answers = new Map<string, object>();
  const origins = new Map<string, string>();
  const operations = Object.entries(service.operations).map(([operation, run]): [string, Operation] => {
    const nothing = service.nothing?.[operation];
    const answered = async (input: unknown, fault: CallFault | undefined) => {
      if (!nothing) return run(input);
      const question = questionOf(operation, input);
      if (fault?.kind === "stale") return (fault.isEmpty ? undefined : answers.get(question)) ?? nothing(input);
      const answer = await run(input);
      answers.set(question, answer);
      return answer;
    };
    return [
      operation,
      async (input) => {
        const text = JSON.stringify(input);
        const origin = idsIn(text).flatMap((id) => origins.get(id) ?? [])[0];
        const fault = faults({ service: name, operation, input: text, origin });
        const run = async () => {
          const answer = await answered(input, fault);
          if (naming.includes(operation)) for (const id of idsIn(JSON.stringify(answer))) origins.set(id, text);
          return answer;
        };
        return runWithFault(fault, run, jsonFaultError);
      },
    ];
  });
  return { ...service, operations: Object.fromEntries(operations) };
}
