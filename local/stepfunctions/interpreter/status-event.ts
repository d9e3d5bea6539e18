import { createHash } from "node:crypto";
import type { Ending, Identity } from "../store/journal.ts";
import type { ExecutionStatus } from "./execution.ts";

/** The EventBridge event "Step Functions Execution Status Change"; `detail` has times in milliseconds and data as JSON text. */
export interface StatusChangeEvent {
  version: "0";
  /** The same id for each delivery of one change. */
  id: string;
  "detail-type": "Step Functions Execution Status Change";
  source: "aws.states";
  account: string;
  time: string;
  region: string;
  resources: string[];
  detail: {
    executionArn: string;
    stateMachineArn: string;
    name: string;
    status: ExecutionStatus;
    startDate: number;
    stopDate: number | null;
    input: string;
    output: string | null;
    error: string | null;
    cause: string | null;
  };
}

/** The event for an execution's start (without `ending`) or end. */
export function statusEvent(identity: Identity, ending: Ending | undefined, region: string): StatusChangeEvent {
  const status = ending?.status ?? "RUNNING";
  const digest = createHash("sha256").update(`${identity.arn} ${identity.startedAt} ${status}`).digest("hex");
  return {
    version: "0",
    id: digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5"),
    "detail-type": "Step Functions Execution Status Change",
    source: "aws.states",
    account: identity.arn.split(":")[4] ?? "",
    time: new Date(ending?.stoppedAt ?? identity.startedAt).toISOString(),
    region,
    resources: [identity.arn],
    detail: {
      executionArn: identity.arn,
      stateMachineArn: identity.stateMachineArn,
      name: identity.name,
      status,
      startDate: identity.startedAt,
      stopDate: ending?.stoppedAt ?? null,
      input: identity.input,
      output: ending?.output ?? null,
      error: ending?.error ?? null,
      cause: ending?.cause ?? null,
    },
  };
}
