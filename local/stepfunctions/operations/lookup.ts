import * as z from "zod";
import { AwsError, epochSeconds } from "../../aws/service.ts";
import type { Engine } from "../interpreter/engine.ts";
import type { Machine } from "../interpreter/machine.ts";
import type { Ending, HistoryEvent, Identity } from "../store/journal.ts";

/** A registered state machine. */
export interface Registered {
  arn: string;
  roleArn: string;
  createdAt: number;
  machine: Machine;
}

const DATA_BYTES_MAX = 262_144;

/** Converts milliseconds since the epoch to the API's time format. */
export const date = (at: number) => epochSeconds(new Date(at));

export const arnText = z.string().min(1).max(256);
export const pageSize = z.int().min(0).max(1_000).optional();
export const pageToken = z.string().max(1_024).optional();

/** Whether a text is valid as an execution's input or a task's output: JSON of at most 256 KiB. */
export function isPayload(text: string): boolean {
  if (Buffer.byteLength(text) > DATA_BYTES_MAX) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Throws InvalidArn if the ARN is not of this kind. */
export function checkArn(arn: string, kind: "stateMachine" | "execution"): void {
  const pattern =
    kind === "stateMachine"
      ? /^arn:[a-z-]+:states:[^:]*:[^:]*:stateMachine:[^:]+$/
      : /^arn:[a-z-]+:states:[^:]*:[^:]*:execution:[^:]+:[^:]+$/;
  if (!pattern.test(arn)) throw new AwsError("InvalidArn", `Invalid Arn: '${arn}'`);
}

/** One page of a list. Throws InvalidToken, also for a token of another list. */
export function page<T>(
  items: T[],
  input: { maxResults?: number | undefined; nextToken?: string | undefined },
  scope: string,
) {
  const key = `${scope}|`;
  const text = input.nextToken === undefined ? `${key}0` : Buffer.from(input.nextToken, "base64url").toString("utf8");
  const offset = Number(text.slice(key.length));
  if (!text.startsWith(key) || !(Number.isInteger(offset) && offset >= 0))
    throw new AwsError("InvalidToken", "Invalid Token: 'Invalid token'");
  const end = offset + (input.maxResults || 100);
  const nextToken = end < items.length ? { nextToken: Buffer.from(`${key}${end}`).toString("base64url") } : {};
  return { items: items.slice(offset, end), ...nextToken };
}

/** An execution, running or closed. */
export interface FoundExecution {
  identity: Identity;
  ending: Ending | undefined;
  history: HistoryEvent[];
}

/** Finds an execution by its ARN. Throws InvalidArn, ExecutionDoesNotExist. */
export function findExecution(engine: Engine, arn: string): FoundExecution {
  checkArn(arn, "execution");
  const running = engine.open.get(arn);
  if (running) return running;
  const summary = engine.archive.find(arn);
  if (!summary) throw new AwsError("ExecutionDoesNotExist", `Execution Does Not Exist: '${arn}'`);
  return engine.archive.read(summary);
}
