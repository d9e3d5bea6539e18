import * as z from "zod";
import { AwsError, type Operation, operation } from "../aws/service.ts";
import { type Cursor, page, parseToken, termsOf, token } from "./reading.ts";
import type { LogStore, LogStream, PlacedEvent } from "./store.ts";

const group = z.string().min(1).max(512);
const limit = z.int().min(1).max(10_000).default(10_000);
const notFound = (what: "group" | "stream") =>
  new AwsError("ResourceNotFoundException", `The specified log ${what} does not exist.`);
const invalid = (message: string) => new AwsError("InvalidParameterException", message);

function streamsOf(store: LogStore, name: string): ReadonlyMap<string, LogStream> {
  const streams = store.group(name);
  if (!streams) throw notFound("group");
  return streams;
}
function streamOf(store: LogStore, groupName: string, name: string): LogStream {
  const stream = streamsOf(store, groupName).get(name);
  if (!stream) throw notFound("stream");
  return stream;
}

const getLogEvents = (store: LogStore): Operation =>
  operation(
    z.object({
      logGroupName: group,
      logStreamName: group,
      startTime: z.number().optional(),
      endTime: z.number().optional(),
      nextToken: z.string().optional(),
      limit,
      startFromHead: z.boolean().default(false),
    }),
    async (input) => {
      const stream = streamOf(store, input.logGroupName, input.logStreamName);
      const from: Cursor = input.nextToken
        ? parseToken(input.nextToken)
        : input.startFromHead
          ? { direction: "f", position: stream.start }
          : { direction: "b", position: stream.end };
      const wanted = ({ timestamp }: PlacedEvent) =>
        timestamp >= (input.startTime ?? 0) && timestamp < (input.endTime ?? Number.POSITIVE_INFINITY);
      const { events, start, end } = page(store, stream, from, wanted, input.limit);
      return {
        events: events.map(({ timestamp, ingestionTime, message }) => ({ timestamp, ingestionTime, message })),
        nextForwardToken: token({ direction: "f", position: end }),
        nextBackwardToken: token({ direction: "b", position: start }),
      };
    },
  );

const filterLogEvents = (store: LogStore): Operation =>
  operation(
    z.object({
      logGroupName: group,
      logStreamNames: z.array(z.string()).max(100).optional(),
      logStreamNamePrefix: z.string().optional(),
      startTime: z.number().default(0),
      endTime: z.number().default(Number.MAX_SAFE_INTEGER),
      filterPattern: z.string().max(1024).optional(),
      startFromHead: z.boolean().default(true),
      nextToken: z
        .string()
        .regex(/^\d{1,15}$/)
        .optional(),
      limit,
    }),
    async (input) => {
      const terms = termsOf(input.filterPattern);
      const streams = [...streamsOf(store, input.logGroupName).values()].filter(
        ({ name }) =>
          name.startsWith(input.logStreamNamePrefix ?? "") && (input.logStreamNames?.includes(name) ?? true),
      );
      const offset = Number(input.nextToken ?? 0);
      const wanted = { from: input.startTime, to: input.endTime, terms, newestFirst: !input.startFromHead };
      // One more event than the limit shows whether there is another page.
      const found = [
        ...store
          .find(streams, wanted)
          .drop(offset)
          .take(input.limit + 1),
      ];
      const events = found.slice(0, input.limit).map(({ stream, position, timestamp, ingestionTime, message }) => ({
        logStreamName: stream,
        eventId: `${stream}:${position}`,
        timestamp,
        ingestionTime,
        message,
      }));
      return { events, ...(found.length > input.limit ? { nextToken: String(offset + input.limit) } : {}) };
    },
  );

const describeLogStreams = (store: LogStore): Operation =>
  operation(
    z.object({
      logGroupName: group,
      logStreamNamePrefix: z.string().optional(),
      orderBy: z.enum(["LogStreamName", "LastEventTime"]).default("LogStreamName"),
      descending: z.boolean().default(false),
      nextToken: z.string().regex(/^\d+$/).optional(),
      limit: z.int().min(1).max(50).default(50),
    }),
    async (input) => {
      const streams = [...streamsOf(store, input.logGroupName).values()].filter(({ name }) =>
        name.startsWith(input.logStreamNamePrefix ?? ""),
      );
      const byName = (a: LogStream, b: LogStream) => (a.name < b.name ? -1 : 1);
      const byTime = (a: LogStream, b: LogStream) => (a.lastEventTimestamp ?? 0) - (b.lastEventTimestamp ?? 0);
      streams.sort(input.orderBy === "LastEventTime" ? byTime : byName);
      if (input.descending) streams.reverse();
      const offset = Number(input.nextToken ?? 0);
      const end = offset + input.limit;
      return {
        logStreams: streams
          .slice(offset, end)
          .map(({ id: _, start: __, end: ___, name, ...times }) => ({ logStreamName: name, ...times })),
        ...(end < streams.length ? { nextToken: String(end) } : {}),
      };
    },
  );

const putLogEvents = (store: LogStore): Operation =>
  operation(
    z.object({
      logGroupName: group,
      logStreamName: group,
      logEvents: z
        .array(z.object({ timestamp: z.number(), message: z.string().min(1) }))
        .min(1)
        .max(10_000),
    }),
    (input) => {
      const stream = streamOf(store, input.logGroupName, input.logStreamName);
      if (input.logEvents.some(({ timestamp }, i) => timestamp < (input.logEvents[i - 1]?.timestamp ?? 0)))
        throw invalid("Log events in a single PutLogEvents request must be in chronological order.");
      for (const { timestamp, message } of input.logEvents) store.append(stream, timestamp, message);
      return { nextSequenceToken: String(stream.end) };
    },
  );

const createLogStream = (store: LogStore): Operation =>
  operation(z.object({ logGroupName: group, logStreamName: group }), (input) => {
    if (streamsOf(store, input.logGroupName).has(input.logStreamName))
      throw new AwsError("ResourceAlreadyExistsException", "The specified log stream already exists");
    store.createStream(input.logGroupName, input.logStreamName);
    return {};
  });

const deleteLogStream = (store: LogStore): Operation =>
  operation(z.object({ logGroupName: group, logStreamName: group }), (input) => {
    store.deleteStream(input.logGroupName, streamOf(store, input.logGroupName, input.logStreamName));
    return {};
  });

const createLogGroup = (store: LogStore): Operation =>
  operation(z.object({ logGroupName: group }), (input) => {
    if (store.group(input.logGroupName))
      throw new AwsError("ResourceAlreadyExistsException", "The specified log group already exists");
    store.createGroup(input.logGroupName);
    return {};
  });

/** The CloudWatch Logs calls that the service uses. */
export function logOperations(store: LogStore): Record<string, Operation> {
  return {
    CreateLogGroup: createLogGroup(store),
    CreateLogStream: createLogStream(store),
    PutLogEvents: putLogEvents(store),
    GetLogEvents: getLogEvents(store),
    FilterLogEvents: filterLogEvents(store),
    DeleteLogStream: deleteLogStream(store),
    DescribeLogStreams: describeLogStreams(store),
  };
}
