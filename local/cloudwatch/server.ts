import { join } from "node:path";
import type { JsonService } from "../aws/service.ts";
import { metricOperations } from "./operations.ts";
import { type Metric, MetricStore } from "./store.ts";

export interface CloudWatch {
  service: JsonService;
  /** Adds a value that was measured now, as AWS services do for their own metrics. */
  put(metric: Metric, value: number): void;
  close(): void;
}

export interface CloudWatchOptions {
  dir: string;
  now?: () => number;
}

/** How long CloudWatch keeps values of single minutes. */
const keptMs = 15 * 24 * 3_600_000;
const expireEveryMs = 3_600_000;

/** CloudWatch's metrics on a SQLite file in `dir`. A SIGKILL loses the last seconds. */
export function createCloudWatch({ dir, now = Date.now }: CloudWatchOptions): CloudWatch {
  const store = new MetricStore({ file: join(dir, "metrics.sqlite"), keptMs, now });
  const expiring = setInterval(() => store.deleteOld(), expireEveryMs).unref();
  return {
    service: { target: "GraniteServiceVersion20100801", operations: metricOperations(store) },
    put: (metric, value) => store.put(metric, value),
    close: () => {
      clearInterval(expiring);
      store.close();
    },
  };
}
