import * as z from "zod";
import { epochSeconds, type Operation, operation } from "../aws/service.ts";
import { percentile, type Statistics } from "./statistics.ts";
import { type Metric, type MetricStore, minuteMs } from "./store.ts";

/** One call can ask for so many metrics. */
const queriesMax = 500;
/** And get so many values. */
const valuesMax = 100_800;

const query = z.strictObject({
  Id: z.string().regex(/^[a-z][A-Za-z0-9_]{0,254}$/),
  MetricStat: z.strictObject({
    Metric: z.strictObject({
      Namespace: z.string().min(1),
      MetricName: z.string().min(1),
      Dimensions: z.array(z.strictObject({ Name: z.string().min(1), Value: z.string().min(1) })).max(30),
    }),
    Period: z.int().min(60).multipleOf(60),
    Stat: z.string().regex(/^(Sum|Average|SampleCount|Minimum|Maximum|p(\d{1,2}(\.\d{1,10})?|100))$/),
  }),
});

const input = z.strictObject({
  MetricDataQueries: z.array(query).min(1).max(queriesMax),
  StartTime: z.number(),
  EndTime: z.number(),
});

function statisticOf(statistics: Statistics, stat: string): number {
  switch (stat) {
    case "Sum":
      return statistics.sum;
    case "Average":
      return statistics.sum / statistics.count;
    case "SampleCount":
      return statistics.count;
    case "Minimum":
      return statistics.min;
    case "Maximum":
      return statistics.max;
    default:
      return percentile(statistics, Number(stat.slice(1)));
  }
}

/** GetMetricData: newest value first, and nothing for a period without values, as on AWS. */
export function metricOperations(store: MetricStore): Record<string, Operation> {
  return {
    GetMetricData: operation(input, ({ MetricDataQueries: queries, StartTime, EndTime }) => {
      let left = valuesMax;
      const MetricDataResults = queries.map(({ Id, MetricStat: { Metric: asked, Period, Stat } }) => {
        const metric: Metric = {
          namespace: asked.Namespace,
          name: asked.MetricName,
          dimensions: Object.fromEntries(asked.Dimensions.map(({ Name, Value }) => [Name, Value])),
        };
        const periodMs = Period * 1000;
        const from = Math.floor((StartTime * 1000) / minuteMs) * minuteMs;
        const range = { from, to: EndTime * 1000, periodMs };
        const found = [...store.read(metric, range, Stat.startsWith("p"))].reverse().slice(0, left);
        left -= found.length;
        return {
          Id,
          Label: asked.MetricName,
          Timestamps: found.map(([at]) => epochSeconds(new Date(at))),
          Values: found.map(([, statistics]) => statisticOf(statistics, Stat)),
          StatusCode: "Complete",
        };
      });
      return { MetricDataResults, Messages: [] };
    }),
  };
}
