import { expect, test } from "vitest";
import { limits } from "../../../../api/limits.ts";
import { metricPoints, metricRange, withRestarts } from "../../../../lambdas/builds/model/metrics.ts";

const now = new Date("2026-11-20T12:34:56.789Z");
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000);
const none = { requests: null, errors: null, latencyMsP50: null, latencyMsP95: null };
const nothing = { ...none, memoryMiB: null, cpuPercent: null, restarts: null };

test("the last hour has a point for each minute, up to the current one", () => {
  const range = metricRange(undefined, now);
  expect(range).toEqual({
    from: new Date("2026-11-20T11:34:00.000Z"),
    to: new Date("2026-11-20T12:35:00.000Z"),
    stepSeconds: 60,
  });
  const points = metricPoints(range, () => ({}), 512);
  expect(points).toHaveLength(61);
  expect(points.at(-1)).toEqual({ at: "2026-11-20T12:34:00.000Z", ...nothing });
});

test.each([0, 0.01, 4.9, 4.99, 5, 24, 25, 74, 75, 100, 12 * 24, 12.5 * 24, 14 * 24, 20 * 24])(
  "%f hours are at most 300 points, at multiples of the step, from the moment that was asked for",
  (hours) => {
    const range = metricRange(hoursAgo(hours), now);
    const points = metricPoints(range, () => ({}), 512);
    expect(points.length).toBeLessThanOrEqual(limits.metricPointsMax);
    const stepMs = range.stepSeconds * 1_000;
    expect(points.filter(({ at }) => Date.parse(at) % stepMs !== 0)).toEqual([]);
    expect(Date.parse(points.at(-1)?.at ?? "")).toBe(Math.floor(now.getTime() / stepMs) * stepMs);
    const asked = Math.max(hoursAgo(hours).getTime(), hoursAgo(limits.metricsKeptDays * 24).getTime());
    expect(Date.parse(points[0]?.at ?? "")).toBe(Math.floor(asked / stepMs) * stepMs);
    expect(points.map(({ at }) => at)).toEqual(points.map(({ at }) => at).toSorted());
  },
);

test("a moment in the future counts as now: there is one point", () => {
  expect(metricPoints(metricRange(hoursAgo(-24 * 365), now), () => ({}), 512)).toHaveLength(1);
});

const range = { from: new Date(0), to: new Date(60_000), stepSeconds: 60 };
const pointOf = (measured: Parameters<typeof metricPoints>[1] extends (at: Date) => infer M ? M : never) =>
  metricPoints(range, () => measured, 1_024)[0];

test("shares of memory become MiB of one instance, and seconds become milliseconds", () => {
  const measured = { memoryPercent: 12.5, cpuPercent: 3.123, latencySecondsP50: 0.01234, latencySecondsP95: 1.5 };
  expect(pointOf({ ...measured, requests: 7, errors: 1, restarts: 2 })).toEqual({
    at: "1970-01-01T00:00:00.000Z",
    requests: 7,
    errors: 1,
    latencyMsP50: 12.3,
    latencyMsP95: 1_500,
    memoryMiB: 128,
    cpuPercent: 3.1,
    restarts: 2,
  });
});

test("restarts are counted in their step; an hour ago and before they are not known", () => {
  const minute = (at: number) => now.getTime() - (now.getTime() % 60_000) - at * 60_000;
  const measured = new Map([0, 1, 60, 61].map((at) => [minute(at), { requests: at }]));
  const ended = [1_000, 59_999].map((ms) => new Date(minute(1) + ms));
  const counted = withRestarts(measured, [...ended, new Date(minute(2))], metricRange(undefined, now), now);
  expect(new Map([...counted].map(([at, { restarts }]) => [at, restarts]))).toEqual(
    new Map([
      [minute(0), 0],
      [minute(1), 2],
      [minute(60), 0],
      [minute(61), undefined],
      // Nothing else was measured in that minute.
      [minute(2), 1],
    ]),
  );
  expect(measured.get(minute(1))).toEqual({ requests: 1 });
});

test("an app that ran without requests had none; without any measurement nothing is known", () => {
  expect(pointOf({ cpuPercent: 0.4, memoryPercent: 50 })).toMatchObject({ ...none, requests: 0, errors: 0 });
  expect(pointOf({ requests: 3 })).toMatchObject({ requests: 3, errors: 0, memoryMiB: null, restarts: null });
  expect(pointOf({})).toMatchObject(nothing);
});
