import { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CloudWatchLogsClient,
  CreateLogGroupCommand,
  CreateLogStreamCommand,
  DescribeLogStreamsCommand,
  FilterLogEventsCommand,
  GetLogEventsCommand,
  PutLogEventsCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AwsServer } from "../../../local/aws/http-server.ts";
import { startAwsServer } from "../../../local/aws/server.ts";
import { createLogs, type Logs, type LogsOptions } from "../../../local/logs/logs.ts";
import { testKey, testKeys } from "../../harness/signing.ts";

let dir: string;
let logs: Logs;
let server: AwsServer;
let client: CloudWatchLogsClient;

async function start(options: Partial<LogsOptions> = {}): Promise<void> {
  logs = createLogs({ dir, ...options });
  server = await startAwsServer({ json: [logs.service], credentials: testKeys });
  client = new CloudWatchLogsClient({ endpoint: server.endpoint, region: "us-east-1", credentials: testKey });
}
async function stop(): Promise<void> {
  client.destroy();
  await server.close();
}
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "logs-"));
  await start();
});
afterEach(async () => {
  await stop();
  rmSync(dir, { recursive: true, force: true });
});

const stream = { logGroupName: "/slipway/apps", logStreamName: "app/web/0123" };
const put = (message: string, timestamp = 1_000, logStream = stream.logStreamName) =>
  logs.put({ logGroup: stream.logGroupName, logStream, timestamp, message });
const read = (input: object = {}) => client.send(new GetLogEventsCommand({ ...stream, ...input }));
const messages = (answer: { events?: { message?: string | undefined }[] | undefined }) =>
  answer.events?.map(({ message }) => message);

test("what was put is read at once, byte for byte", async () => {
  put('first ✓ \u0000\r\t"\\', 5);
  put("second", 6);
  const answer = await read();
  expect(messages(answer)).toEqual(['first ✓ \u0000\r\t"\\', "second"]);
  expect(answer.events?.[0]?.timestamp).toBe(5);
});

test("a reader follows a stream with the forward token and pages back with the backward token", async () => {
  for (let i = 0; i < 10; i++) put(`line ${i}`, i);
  const head = await read({ startFromHead: true, limit: 4 });
  expect(messages(head)).toEqual(["line 0", "line 1", "line 2", "line 3"]);
  const rest = await read({ nextToken: head.nextForwardToken });
  expect(messages(rest)).toEqual(["line 4", "line 5", "line 6", "line 7", "line 8", "line 9"]);
  const end = await read({ nextToken: rest.nextForwardToken });
  expect(messages(end)).toEqual([]);
  expect(end.nextForwardToken).toBe(rest.nextForwardToken);
  put("line 10");
  expect(messages(await read({ nextToken: end.nextForwardToken }))).toEqual(["line 10"]);

  const tail = await read({ limit: 2 });
  expect(messages(tail)).toEqual(["line 9", "line 10"]);
  expect(messages(await read({ nextToken: tail.nextBackwardToken, limit: 3 }))).toEqual(["line 6", "line 7", "line 8"]);
  expect(messages(await read({ startFromHead: true, startTime: 3, endTime: 5 }))).toEqual(["line 3", "line 4"]);
  await expect(read({ nextToken: "elsewhere" })).rejects.toMatchObject({ name: "InvalidParameterException" });
});

test("streams survive a restart, and half a line that a crash left is dropped", async () => {
  put("kept");
  await read();
  await stop();
  const folder = join(dir, encodeURIComponent(stream.logGroupName), encodeURIComponent(stream.logStreamName));
  for (const name of readdirSync(folder)) appendFileSync(join(folder, name), '[1,2,"to');
  await start();
  put("after");
  expect(messages(await read())).toEqual(["kept", "after"]);
});

test("a stream is bounded: the oldest events go, positions stay", async () => {
  await stop();
  await start({ segmentBytesMax: 2_000 });
  for (let i = 0; i < 400; i++) {
    put(`line ${String(i).padStart(60, "0")}`, i);
    if (i % 5 === 4) await read({ limit: 1 });
  }
  const kept: (string | undefined)[] = [];
  let nextToken: string | undefined;
  for (;;) {
    const answer = await read({ startFromHead: true, nextToken });
    if (answer.nextForwardToken === nextToken) break;
    kept.push(...(messages(answer) ?? []));
    nextToken = answer.nextForwardToken;
  }
  expect(kept.at(-1)).toMatch(/399$/);
  expect(kept.length).toBeGreaterThan(20);
  expect(kept.length).toBeLessThan(80);
});

test("a group keeps the streams written last", async () => {
  await stop();
  await start({
    streamsMax: 2,
    now: (() => {
      let clock = 0;
      return () => ++clock;
    })(),
  });
  for (const name of ["a", "b", "c"]) put("x", 1, name);
  const { logStreams } = await client.send(new DescribeLogStreamsCommand({ logGroupName: stream.logGroupName }));
  expect(logStreams?.map(({ logStreamName }) => logStreamName)).toEqual(["b", "c"]);
});

test("events are found across streams by prefix, time and term", async () => {
  put("GET / 200", 3, "app/web/1");
  put("Error: no database", 2, "app/web/2");
  put("Error: other", 1, "build/1");
  const filter = (input: object) =>
    client.send(new FilterLogEventsCommand({ logGroupName: stream.logGroupName, ...input }));
  expect(messages(await filter({ logStreamNamePrefix: "app/" }))).toEqual(["Error: no database", "GET / 200"]);
  expect(messages(await filter({ filterPattern: 'Error "no data"' }))).toEqual(["Error: no database"]);
  const first = await filter({ limit: 2 });
  expect(messages(await filter({ limit: 2, nextToken: first.nextToken }))).toEqual(["GET / 200"]);
});

test("a client can make streams, put events and list them by time", async () => {
  const group = { logGroupName: "/codebuild" };
  await expect(client.send(new CreateLogStreamCommand({ ...group, logStreamName: "s" }))).rejects.toMatchObject({
    name: "ResourceNotFoundException",
  });
  await client.send(new CreateLogGroupCommand(group));
  for (const logStreamName of ["s", "t"]) await client.send(new CreateLogStreamCommand({ ...group, logStreamName }));
  await client.send(
    new PutLogEventsCommand({ ...group, logStreamName: "s", logEvents: [{ timestamp: 7, message: "m" }] }),
  );
  const answer = await client.send(
    new DescribeLogStreamsCommand({ ...group, orderBy: "LastEventTime", descending: true }),
  );
  expect(answer.logStreams?.map(({ logStreamName }) => logStreamName)).toEqual(["s", "t"]);
  expect(answer.logStreams?.[0]).toMatchObject({ firstEventTimestamp: 7, lastEventTimestamp: 7 });
  for (const missing of [stream, { ...group, logStreamName: "u" }])
    await expect(client.send(new GetLogEventsCommand(missing))).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
});
