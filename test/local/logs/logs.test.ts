import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
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
import { createLogs, type Logs, type LogsOptions } from "../../../local/logs/server.ts";
import { cpuTimer } from "../../harness/cpu-time.ts";
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
  logs.close();
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

test("events can be read at once, byte for byte", async () => {
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

test("streams survive a restart, and tokens stay valid", async () => {
  put("kept", 7);
  const { nextForwardToken } = await read();
  await stop();
  await start();
  put("after");
  expect(messages(await read())).toEqual(["kept", "after"]);
  expect(messages(await read({ nextToken: nextForwardToken }))).toEqual(["after"]);
  const { logStreams } = await client.send(new DescribeLogStreamsCommand({ logGroupName: stream.logGroupName }));
  expect(logStreams?.[0]).toMatchObject({ firstEventTimestamp: 7, lastEventTimestamp: 1_000 });
});

test("a SIGKILL loses no line that was put in an earlier turn of the event loop", async () => {
  await stop();
  const module = new URL("../../../local/logs/server.ts", import.meta.url).href;
  const script = `
    import { createLogs } from ${JSON.stringify(module)};
    import { setImmediate as turn } from "node:timers/promises";
    const logs = createLogs({ dir: ${JSON.stringify(dir)} });
    for (let i = 0; i < 500; i += 1) {
      logs.put({ logGroup: ${JSON.stringify(stream.logGroupName)}, logStream: ${JSON.stringify(stream.logStreamName)}, timestamp: i, message: "line " + i });
      if (i % 7 === 0) await turn();
    }
    await turn();
    process.kill(process.pid, "SIGKILL");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" });
  const [, signal] = await once(child, "exit");
  expect(signal).toBe("SIGKILL");
  await start();
  expect(messages(await read({ startFromHead: true }))).toEqual(Array.from({ length: 500 }, (_, i) => `line ${i}`));
});

test("streams of an earlier version are imported, without the half line that a crash left", async () => {
  await stop();
  const group = join(dir, encodeURIComponent(stream.logGroupName));
  const folder = join(group, encodeURIComponent(stream.logStreamName));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "0.jsonl"), '[1,2,"first"]\n[3,4,"second"]\n');
  writeFileSync(join(folder, "30.jsonl"), '[5,6,"third"]\n[7,8,"to');
  await start();
  const answer = await read();
  expect(messages(answer)).toEqual(["first", "second", "third"]);
  expect(answer.events?.[1]).toMatchObject({ timestamp: 3, ingestionTime: 4 });
  expect(existsSync(group)).toBe(false);
});

test("with a damaged file the service still starts and keeps new lines", async () => {
  put("lost");
  await read();
  await stop();
  for (const name of readdirSync(dir)) writeFileSync(join(dir, name), "no database");
  await start();
  put("after");
  expect(messages(await read())).toEqual(["after"]);
  expect(readdirSync(dir)).toContain("logs.sqlite.damaged");
});

test("the last lines of a long stream are read without the others", async () => {
  await stop();
  await start({ streamBytesMax: 1_000_000_000 });
  for (let i = 0; i < 120_000; i += 1) put(`line ${i}`, i);
  await read({ limit: 1 });
  const spent = cpuTimer();
  const tail = messages(await read({ limit: 1_000 }));
  // Reading all of them takes several times as long.
  expect(spent()).toBeLessThan(300);
  expect(tail?.[0]).toBe("line 119000");
  expect(tail).toHaveLength(1_000);
});

test("a stream has a maximum size: the oldest events are deleted, tokens stay valid", async () => {
  await stop();
  await start({ streamBytesMax: 2_000 });
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

test("a group keeps the streams with the newest events", async () => {
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
  put("with \u0000 the needle", 4, "app/web/1");
  expect(messages(await filter({ filterPattern: "needle" }))).toEqual(["with \u0000 the needle"]);
  expect(messages(await filter({ startTime: 2, endTime: 3 }))).toEqual(["Error: no database", "GET / 200"]);
  const first = await filter({ limit: 2 });
  expect(messages(await filter({ limit: 2, nextToken: first.nextToken }))).toEqual([
    "GET / 200",
    "with \u0000 the needle",
  ]);
});

test("a client can create streams, put events and list the streams by time", async () => {
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

test("events are found from the newest on, in the opposite order of the oldest on", async () => {
  for (let at = 10; at < 40; at += 1) put(`line ${at}`, at, `app/${at % 3}`);
  // Lines of one millisecond keep an order, whatever streams they are of.
  for (const name of ["app/2", "app/0", "app/1"]) put(`same ${name}`, 40, name);
  const filter = async (input: object) =>
    messages(
      await client.send(
        new FilterLogEventsCommand({ logGroupName: stream.logGroupName, logStreamNamePrefix: "app/", ...input }),
      ),
    ) ?? [];
  const oldest = await filter({});
  expect(oldest).toHaveLength(33);
  expect(oldest.slice(0, 3)).toEqual(["line 10", "line 11", "line 12"]);
  expect(await filter({ startFromHead: false })).toEqual(oldest.toReversed());
  expect(await filter({ startFromHead: false, endTime: 39, limit: 2 })).toEqual(["line 39", "line 38"]);
  expect(await filter({ startTime: 38, endTime: 39 })).toEqual(["line 38", "line 39"]);
});

test("events are kept for 30 days", async () => {
  const day = 24 * 3_600_000;
  let clock = 100 * day;
  await stop();
  await start({ now: () => clock });
  put("old", clock, "app/old");
  put("first", clock, "app/both");
  clock += 20 * day;
  put("second", clock, "app/both");
  clock += 15 * day;
  await stop();
  await start({ now: () => clock });
  const { events } = await client.send(new FilterLogEventsCommand({ logGroupName: stream.logGroupName }));
  expect(events?.map(({ message }) => message)).toEqual(["second"]);
  expect(messages(await read({ logStreamName: "app/both", startFromHead: true }))).toEqual(["second"]);
});
