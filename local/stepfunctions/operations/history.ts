import * as z from "zod";
import { type Operation, operation } from "../../aws/service.ts";
import type { Engine } from "../interpreter/engine.ts";
import type { ClosedSummary } from "../store/archive.ts";
import type { HistoryEvent } from "../store/journal.ts";
import { arnText, date, findExecution, page, pageSize, pageToken, type Registered } from "./lookup.ts";

const STATUSES = ["RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"] as const;

/** ListExecutions, newest first. */
export function listExecutions(engine: Engine, machines: (arn: string) => Registered): Operation {
  const schema = z.object({
    stateMachineArn: arnText,
    statusFilter: z.enum(STATUSES).optional(),
    maxResults: pageSize,
    nextToken: pageToken,
  });
  return operation(schema, (input) => {
    machines(input.stateMachineArn);
    const all: (Omit<ClosedSummary, "file" | "status" | "stoppedAt"> & { status: string; stoppedAt?: number })[] = [];
    for (const { identity, ending } of engine.open.values()) all.push({ ...identity, status: "RUNNING", ...ending });
    for (const summary of engine.archive.list()) if (!engine.open.has(summary.arn)) all.push(summary);
    const wanted = all
      .filter((row) => row.stateMachineArn === input.stateMachineArn)
      .filter((row) => input.statusFilter === undefined || row.status === input.statusFilter)
      .sort((a, b) => b.startedAt - a.startedAt || (a.arn < b.arn ? -1 : 1));
    const { items, ...rest } = page(wanted, input, `${input.stateMachineArn}|${input.statusFilter ?? ""}`);
    const executions = items.map((row) => ({
      executionArn: row.arn,
      stateMachineArn: row.stateMachineArn,
      name: row.name,
      status: row.status,
      startDate: date(row.startedAt),
      ...(row.stoppedAt === undefined ? {} : { stopDate: date(row.stoppedAt) }),
    }));
    return { executions, ...rest };
  });
}

function historyEvent(event: HistoryEvent, index: number): object {
  const { type, at, state, resource, error, cause } = event;
  const key = `${type.charAt(0).toLowerCase()}${type.slice(1)}EventDetails`;
  const [resourceType, name] = resource?.split(":").slice(-2) ?? [];
  const details = resource === undefined ? { error, cause } : { resourceType, resource: name, error, cause };
  const named = type.endsWith("StateEntered") ? "stateEnteredEventDetails" : "stateExitedEventDetails";
  return {
    id: index + 1,
    previousEventId: index,
    timestamp: date(at),
    type,
    ...(state === undefined ? { [key]: details } : { [named]: { name: state } }),
  };
}

/** GetExecutionHistory: all events in order, without payloads. */
export function getExecutionHistory(engine: Engine): Operation {
  const schema = z.object({
    executionArn: arnText,
    maxResults: pageSize,
    reverseOrder: z.boolean().default(false),
    nextToken: pageToken,
    includeExecutionData: z.boolean().optional(),
  });
  return operation(schema, (input) => {
    const events = findExecution(engine, input.executionArn).history.map(historyEvent);
    if (input.reverseOrder) events.reverse();
    const { items, ...rest } = page(events, input, `${input.executionArn}|${input.reverseOrder}`);
    return { events: items, ...rest };
  });
}
