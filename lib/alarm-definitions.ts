import { Duration, Stack } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { Operation } from "aws-cdk-lib/aws-dynamodb";
import * as logs from "aws-cdk-lib/aws-logs";
import type { Deployment } from "./deployment.ts";
import type { Events } from "./events.ts";
import type { Functions } from "./functions.ts";
import type { ServiceApi } from "./http-api.ts";
import type { Resources } from "./resources.ts";

/** The parts of the stack that are watched. */
export interface Watched {
  resources: Resources;
  service: ServiceApi;
  functions: Functions;
  deployment: Deployment;
  events: Events;
}

/** One thing that wakes a person. */
export interface Watch {
  id: string;
  metric: cloudwatch.IMetric;
  above: number;
  /** How many of how many five-minute periods. */
  periods?: [number, number];
  /** What it means and what to do, for whoever is woken. */
  text: string;
}

/** The calls that `lambdas/table` makes. */
const tableOperations = [
  Operation.BATCH_GET_ITEM,
  Operation.QUERY,
  Operation.TRANSACT_WRITE_ITEMS,
  Operation.UPDATE_ITEM,
];

/** Counted over five minutes. */
export const sum = { statistic: "Sum", period: Duration.minutes(5) };

function errorLines(functions: Functions): cloudwatch.Metric {
  const filter = new logs.MetricFilter(functions, "ErrorLines", {
    logGroup: functions.output,
    filterPattern: logs.FilterPattern.stringValue("$.level", "=", "error"),
    metricNamespace: `Slipway/${Stack.of(functions).stackName}`,
    metricName: "ErrorLines",
    metricValue: "1",
  });
  return filter.metric(sum);
}

function ended(machine: Deployment["machine"]): cloudwatch.MathExpression {
  return new cloudwatch.MathExpression({
    expression: "failed + timedOut + aborted",
    label: "executions that did not end by themselves",
    period: sum.period,
    usingMetrics: {
      failed: machine.metricFailed(sum),
      timedOut: machine.metricTimedOut(sum),
      aborted: machine.metricAborted(sum),
    },
  });
}

/** What is watched, and above which number it wakes. */
export function watches({ resources, service, functions, deployment, events }: Watched): Watch[] {
  const { table } = resources.data;
  const list: Watch[] = [
    {
      id: "ApiFaults",
      metric: service.api.metricServerError(sum),
      above: 5,
      periods: [2, 3],
      text: "The API answers 5xx. Look for the request ids in the functions' log group.",
    },
    {
      id: "ApiSlow",
      metric: service.api.metricLatency({ statistic: "p99", period: sum.period }),
      above: 5_000,
      periods: [3, 3],
      text: "One in a hundred API calls takes longer than 5 s.",
    },
    {
      id: "FunctionErrors",
      metric: errorLines(functions),
      above: 20,
      periods: [2, 3],
      text: "Functions log errors. Query the functions' log group for level = error.",
    },
    {
      id: "DeploymentsDied",
      metric: ended(deployment.machine),
      above: 0,
      text: "An execution failed, timed out or was aborted. Its build was ended and its project freed; the execution's history says why.",
    },
    {
      id: "DeploymentsThrottled",
      metric: deployment.machine.metricThrottled(sum),
      above: 0,
      periods: [2, 3],
      text: "Step Functions throttles state transitions: raise the account's quota.",
    },
    {
      id: "EventsLost",
      metric: events.lost.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum", period: sum.period }),
      above: 0,
      text: "An event was not handled. Each message of the queue names its rule and carries the event.",
    },
    {
      id: "TableThrottled",
      metric: table.metricThrottledRequestsForOperations({ ...sum, operations: tableOperations }),
      above: 10,
      periods: [2, 3],
      text: "DynamoDB throttles: one partition or the account's limit is too busy.",
    },
  ];
  if (resources.database) {
    const capacity = resources.database.cluster.metric("ACUUtilization", { statistic: "Average", period: sum.period });
    list.push({
      id: "DatabaseFull",
      metric: capacity,
      above: 90,
      periods: [3, 3],
      text: "The databases use all the capacity they may: raise serverlessV2MaxCapacity.",
    });
  }
  return list;
}
