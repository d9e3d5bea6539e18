import { Duration, Stack } from "aws-cdk-lib";
import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { Operation } from "aws-cdk-lib/aws-dynamodb";
import * as logs from "aws-cdk-lib/aws-logs";
import type { Deployment } from "./deployment.ts";
import type { Events } from "./events.ts";
import type { Functions } from "./functions.ts";
import type { ServiceApi } from "./http-api.ts";
import type { Resources } from "./resources.ts";

/** The parts of the stack that have alarms or graphs. */
export interface Monitored {
  resources: Resources;
  service: ServiceApi;
  functions: Functions;
  deployment: Deployment;
  events: Events;
}

/** An alarm goes off when the metric is above `above` in M of N five-minute periods: `periods` is [M, N], default [1, 1]. */
export interface AlarmDefinition {
  id: string;
  metric: cloudwatch.IMetric;
  above: number;
  periods?: [number, number];
  /** What happened and what to do, for the person who gets the message. */
  text: string;
}

/** The calls that `lambdas/table` makes. */
const tableOperations = [
  Operation.BATCH_GET_ITEM,
  Operation.QUERY,
  Operation.TRANSACT_WRITE_ITEMS,
  Operation.UPDATE_ITEM,
];

/** The sum over five minutes. */
const sum = { statistic: "Sum", period: Duration.minutes(5) };

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

/** The alarms. Each costs $0.10 a month, so a problem that another alarm also shows has only a graph. */
export function alarmDefinitions({ resources, service, functions, events }: Monitored): AlarmDefinition[] {
  const list: AlarmDefinition[] = [
    {
      id: "ApiFaults",
      metric: service.api.metricServerError(sum),
      above: 5,
      periods: [2, 3],
      text: "The API answers 5xx. Look for the request ids in the functions' log group.",
    },
    {
      id: "FunctionErrors",
      metric: errorLines(functions),
      above: 20,
      periods: [2, 3],
      text: "Functions log errors. Query the functions' log group for level = error.",
    },
    {
      id: "EventsLost",
      // No consumer reads the queue, so the number of visible messages is the number of lost events.
      metric: events.lost.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum", period: sum.period }),
      above: 0,
      text: "An event was not handled. Each message of the queue names its rule and carries the event.",
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

/** The dashboard's graphs without those of the alarms, by title. */
export function graphs({ resources, service, deployment }: Monitored): Record<string, cloudwatch.IMetric> {
  const { table } = resources.data;
  return {
    "API calls": service.api.metricCount(sum),
    "API 4xx": service.api.metricClientError(sum),
    "API latency, 99th percentile": service.api.metricLatency({ statistic: "p99", period: sum.period }),
    "Deployments started": deployment.machine.metricStarted(sum),
    "State transitions throttled": deployment.machine.metricThrottled(sum),
    "Table requests throttled": table.metricThrottledRequestsForOperations({ ...sum, operations: tableOperations }),
  };
}
