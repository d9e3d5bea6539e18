import type { MetricPoint } from "../../../api/app-output.ts";
import { limits } from "../../../api/limits.ts";
import type { Measured, MetricRange } from "../../aws/app-metrics.ts";

const keptMs = limits.metricsKeptDays * 24 * 3_600_000;
const standardMs = 3_600_000;
/** The lengths of steps; the last one is long enough for everything that is kept. */
const stepsSeconds = [60, 300, 900, 3_600, 7_200] as const;

/**
 * The steps that show the time since a moment, in at most `metricPointsMax` points. A moment in the future counts as now,
 * and one before everything that is kept as the beginning of that.
 */
export function metricRange(since: Date | undefined, now: Date): MetricRange {
  const wanted = since?.getTime() ?? now.getTime() - standardMs;
  const start = Math.min(Math.max(wanted, now.getTime() - keptMs), now.getTime());
  const countOf = (seconds: number) =>
    Math.floor(now.getTime() / 1000 / seconds) - Math.floor(start / 1000 / seconds) + 1;
  const stepSeconds = stepsSeconds.find((seconds) => countOf(seconds) <= limits.metricPointsMax) ?? stepsSeconds[4];
  const from = new Date(Math.floor(start / 1000 / stepSeconds) * stepSeconds * 1000);
  const to = new Date(from.getTime() + countOf(stepSeconds) * stepSeconds * 1000);
  return { from, to, stepSeconds };
}

/** ECS describes stopped tasks for this long. */
const exitsKnownMs = 3_600_000;

/** What was measured, with the restarts: how many instances ended in each step. */
export function withRestarts(
  measured: ReadonlyMap<number, Measured>,
  ended: readonly Date[],
  { stepSeconds }: MetricRange,
  now: Date,
): Map<number, Measured> {
  const stepMs = stepSeconds * 1000;
  const startOf = (time: number) => Math.floor(time / stepMs) * stepMs;
  const steps = new Map(measured);
  // A service that was measured has been watched for exits as well, as long as ECS describes its stopped tasks.
  const knownFrom = startOf(now.getTime() - exitsKnownMs);
  for (const [at, step] of steps) if (at >= knownFrom) steps.set(at, { ...step, restarts: 0 });
  for (const time of ended) {
    const at = startOf(time.getTime());
    const step = steps.get(at) ?? {};
    steps.set(at, { ...step, restarts: (step.restarts ?? 0) + 1 });
  }
  return steps;
}

const rounded = (value: number) => Math.round(value * 10) / 10;

function pointOf(at: Date, measured: Measured, memoryMiB: number): MetricPoint {
  const { memoryPercent, cpuPercent, latencySecondsP50, latencySecondsP95 } = measured;
  // A load balancer reports requests only while there are some: an app that ran without them had none.
  const hasRun = memoryPercent !== undefined || cpuPercent !== undefined;
  const none = hasRun ? 0 : null;
  const requests = measured.requests ?? none;
  return {
    at: at.toISOString(),
    requests,
    errors: measured.errors ?? (requests === null ? null : 0),
    latencyMsP50: latencySecondsP50 === undefined ? null : rounded(latencySecondsP50 * 1000),
    latencyMsP95: latencySecondsP95 === undefined ? null : rounded(latencySecondsP95 * 1000),
    memoryMiB: memoryPercent === undefined ? null : rounded((memoryPercent / 100) * memoryMiB),
    cpuPercent: cpuPercent === undefined ? null : rounded(cpuPercent),
    restarts: measured.restarts ?? null,
  };
}

/** One point for each step, oldest first. `memoryMiB` is the memory of one instance. */
export function metricPoints(
  { from, to, stepSeconds }: MetricRange,
  measuredAt: (at: Date) => Measured,
  memoryMiB: number,
): MetricPoint[] {
  const points: MetricPoint[] = [];
  for (let at = from; at < to; at = new Date(at.getTime() + stepSeconds * 1000)) {
    points.push(pointOf(at, measuredAt(at), memoryMiB));
  }
  return points;
}
