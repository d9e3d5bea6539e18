import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudWatchClient, GetMetricDataCommand, type GetMetricDataCommandInput } from "@aws-sdk/client-cloudwatch";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { appMetrics } from "../../../lambdas/aws/app-metrics.ts";
import type { AwsServer } from "../../../local/aws/http-server.ts";
import { startAwsServer } from "../../../local/aws/server.ts";
import { type CloudWatch, createCloudWatch } from "../../../local/cloudwatch/server.ts";
import { testKey, testKeys } from "../../harness/signing.ts";

let dir: string;
let cloudWatch: CloudWatch;
let server: AwsServer;
let client: CloudWatchClient;
const startedAt = Date.UTC(2026, 10, 20, 12);
const minute = 60_000;
let now = startedAt;

async function start(): Promise<void> {
  cloudWatch = createCloudWatch({ dir, now: () => now });
  server = await startAwsServer({ json: [cloudWatch.service], credentials: testKeys });
  client = new CloudWatchClient({ endpoint: server.endpoint, region: "us-east-1", credentials: testKey });
}
async function stop(): Promise<void> {
  client.destroy();
  await server.close();
  cloudWatch.close();
}
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "cloudwatch-"));
  now = startedAt;
  await start();
});
afterEach(async () => {
  await stop();
  rmSync(dir, { recursive: true, force: true });
});

const metric = { namespace: "AWS/ApplicationELB", name: "TargetResponseTime", dimensions: { B: "2", A: "1" } };
const put = (value: number, name = metric.name) => cloudWatch.put({ ...metric, name }, value);

const query = (Stat: string, Period = 60, MetricName = metric.name) => ({
  Id: "m1",
  MetricStat: {
    Metric: {
      Namespace: metric.namespace,
      MetricName,
      Dimensions: [
        { Name: "A", Value: "1" },
        { Name: "B", Value: "2" },
      ],
    },
    Period,
    Stat,
  },
});
async function read(Stat: string, Period = 60, options: Partial<GetMetricDataCommandInput> = {}) {
  const { MetricDataResults: [found] = [] } = await client.send(
    new GetMetricDataCommand({
      MetricDataQueries: [query(Stat, Period)],
      StartTime: new Date(startedAt - 60 * minute),
      EndTime: new Date(startedAt + 60 * minute),
      ...options,
    }),
  );
  return found?.Timestamps?.map((at, index) => [(at.getTime() - startedAt) / minute, found.Values?.[index]]);
}

test("values of a minute, and of longer periods, are one value each, the newest first; empty periods have none", async () => {
  put(1);
  put(2);
  now += 2 * minute;
  put(9);
  now += 3 * minute;
  put(4);
  expect(await read("Sum")).toEqual([
    [5, 4],
    [2, 9],
    [0, 3],
  ]);
  expect(await read("Sum", 300)).toEqual([
    [5, 4],
    [0, 12],
  ]);
  expect(await read("Average", 300)).toEqual([
    [5, 4],
    [0, 4],
  ]);
  expect(await read("SampleCount", 300)).toEqual([
    [5, 1],
    [0, 3],
  ]);
  expect([await read("Minimum", 3600), await read("Maximum", 3600)]).toEqual([[[0, 1]], [[0, 9]]]);
  const onlyLast = { StartTime: new Date(startedAt + 3 * minute) };
  expect(await read("Sum", 60, onlyLast)).toEqual([[5, 4]]);
});

test("percentiles are within 2 % over several minutes, also of zeros and single values", async () => {
  for (let i = 1; i <= 1_000; i += 1) {
    if (i === 500) now += minute;
    put(i / 1_000);
  }
  for (const [stat, true_] of [
    ["p50", 0.5],
    ["p95", 0.95],
    ["p99.9", 0.999],
  ] as const) {
    const [[, value = 0] = []] = (await read(stat, 300)) ?? [];
    expect([stat, Math.abs((value ?? 0) / true_ - 1) <= 0.02]).toEqual([stat, true]);
  }
  now += 10 * minute;
  put(0);
  expect((await read("p95", 300))?.[0]).toEqual([10, 0]);
});

test("metrics differ by name and dimensions, whose order does not matter; an unknown one has no values", async () => {
  put(1, "RequestCount");
  cloudWatch.put({ ...metric, dimensions: { A: "1" } }, 5);
  const answer = await client.send(
    new GetMetricDataCommand({
      MetricDataQueries: [query("Sum", 60, "RequestCount"), { ...query("Sum", 60, "Unknown"), Id: "m2" }],
      StartTime: new Date(startedAt),
      EndTime: new Date(startedAt + minute),
    }),
  );
  expect(answer.MetricDataResults?.map(({ Id, Values, StatusCode }) => [Id, Values, StatusCode])).toEqual([
    ["m1", [1], "Complete"],
    ["m2", [], "Complete"],
  ]);
});

test("what was measured survives a restart, and a minute goes on after it", async () => {
  put(1);
  await stop();
  await start();
  put(2);
  expect(await read("Sum")).toEqual([[0, 3]]);
  expect((await read("p95"))?.[0]?.[1]).toBeCloseTo(2, 1);
});

test("values are kept for 15 days", async () => {
  put(1);
  await stop();
  now += 16 * 24 * 60 * minute;
  await start();
  put(2);
  expect(await read("Sum")).toEqual([]);
  now += 60 * minute;
  expect(await read("Sum", 60, { EndTime: new Date(now) })).toEqual([[16 * 24 * 60, 2]]);
});

test("with a damaged file the service still starts and measures on", async () => {
  put(1);
  await stop();
  for (const name of readdirSync(dir)) writeFileSync(join(dir, name), "no database");
  await start();
  put(2);
  expect(await read("Sum")).toEqual([[0, 2]]);
  expect(readdirSync(dir)).toContain("metrics.sqlite.damaged");
});

test("an option or a statistic that is not supported is refused, not ignored", async () => {
  await expect(read("Sum", 60, { ScanBy: "TimestampAscending" })).rejects.toThrow(/ScanBy/);
  await expect(read("TM(10%:90%)")).rejects.toThrow(/Stat/);
  await expect(read("Sum", 30)).rejects.toThrow(/Period/);
});

test("the errors of an app are its answers of 500 and above, and the connections that it did not accept", async () => {
  const dimensions = { LoadBalancer: "app/gateway/1", TargetGroup: "targetgroup/app/1" };
  const counts = { RequestCount: 5, HTTPCode_Target_5XX_Count: 1, TargetConnectionErrorCount: 2 };
  for (const [name, count] of Object.entries(counts))
    for (let one = 0; one < count; one += 1) cloudWatch.put({ namespace: metric.namespace, name, dimensions }, 1);
  vi.stubEnv("AWS_ENDPOINT_URL_CLOUDWATCH", server.endpoint);
  vi.stubEnv("AWS_REGION", "us-east-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", testKey.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", testKey.secretAccessKey);
  const targets = [{ loadBalancer: dimensions.LoadBalancer, targetGroup: dimensions.TargetGroup }];
  const range = { from: new Date(startedAt), to: new Date(startedAt + minute), stepSeconds: 60 };
  const app = { service: "app", taskDefinition: undefined, targets };
  const measured = await appMetrics({ CLUSTER_NAME: "apps" }).measured(app, range);
  vi.unstubAllEnvs();
  expect(measured).toEqual(new Map([[startedAt, { requests: 5, errors: 3 }]]));
});
