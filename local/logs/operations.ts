import * as z from "zod";
import { AwsError, type Operation, operation } from "../aws/service.ts";
import type { LogStore, LogStream } from "./log-store.ts";
import type { PlacedEvent } from "./stream-file.ts";

const group = z.string().min(1).max(512);
const limit = z.int().min(1).max(10_000).default(10_000);
const answerBytesMax = 1024 * 1024;

const notFound = (what: "group" | "stream") =>
  new AwsError("ResourceNotFoundException", `The specified log ${what} does not exist.`);
const invalid = (message: string) => new AwsError("InvalidParameterException", message);

function streamsOf(store: LogStore, name: string): Map<string, LogStream> {
  const streams = store.group(name);
  if (!streams) throw notFound("group");
  return streams;
}
function streamOf(store: LogStore, groupName: string, name: string): LogStream {
  const stream = streamsOf(store, groupName).get(name);
  if (!stream) throw notFound("stream");
  return stream;
}

interface Place {
  direction: "f" | "b";
  position: number;
}
function parseToken(token: string): Place {
  const [, direction, position] = /^([fb])\/(\d+)\/s$/.exec(token) ?? [];
  if ((direction !== "f" && direction !== "b") || position === undefined)
    throw invalid("The specified nextToken is invalid.");
  return { direction, position: Number(position) };
}
const token = ({ direction, position }: Place) => `${direction}/${position}/s`;

function firstThatFit(events: PlacedEvent[], count: number): PlacedEvent[] {
  let bytes = 0;
  return events.slice(0, count).filter((event, index) => {
    bytes += event.end - event.start;
    return index === 0 || bytes <= answerBytesMax;
  });
}

/** Reads on over windows that hold nothing of the wanted time, so that an empty page means the end of the stream. */
async function page(stream: LogStream, from: Place, wanted: (event: PlacedEvent) => boolean, count: number) {
  const forward = from.direction === "f";
  let { position } = from;
  for (;;) {
    const window = forward ? await stream.file.readForward(position) : await stream.file.readBackward(position);
    if (window.length === 0) return { events: [], start: position, end: position };
    const start = window[0]?.start ?? position;
    const end = window.at(-1)?.end ?? position;
    const matching = window.filter(wanted);
    if (matching.length > 0) {
      const events = forward ? firstThatFit(matching, count) : firstThatFit(matching.toReversed(), count).toReversed();
      const whole = events.length === matching.length;
      return {
        events,
        start: forward || whole ? Math.min(start, position) : (events[0]?.start ?? start),
        end: !forward || whole ? Math.max(end, forward ? end : position) : (events.at(-1)?.end ?? end),
      };
    }
    position = forward ? end : start;
  }
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
      stream.file.flush();
      const from: Place = input.nextToken
        ? parseToken(input.nextToken)
        : input.startFromHead
          ? { direction: "f", position: stream.file.start }
          : { direction: "b", position: stream.file.end };
      const wanted = ({ timestamp }: PlacedEvent) =>
        timestamp >= (input.startTime ?? 0) && timestamp < (input.endTime ?? Number.POSITIVE_INFINITY);
      const { events, start, end } = await page(stream, from, wanted, input.limit);
      return {
        events: events.map(({ timestamp, ingestionTime, message }) => ({ timestamp, ingestionTime, message })),
        nextForwardToken: token({ direction: "f", position: end }),
        nextBackwardToken: token({ direction: "b", position: start }),
      };
    },
  );

/** Terms that must all occur, or one quoted phrase: the part of the pattern language that has no operators. */
function matcher(pattern: string | undefined): (message: string) => boolean {
  if (!pattern) return () => true;
  if (/^[{[%]/.test(pattern.trim()) || /(^|\s)[?-]/.test(pattern)) throw invalid("Invalid filter pattern");
  const terms = [...pattern.matchAll(/"([^"]*)"|(\S+)/g)].map(([, phrase, word]) => phrase ?? word ?? "");
  return (message) => terms.every((term) => message.includes(term));
}

async function everyEvent(stream: LogStream): Promise<PlacedEvent[]> {
  const events: PlacedEvent[] = [];
  for (let window = await stream.file.readForward(0); window.length > 0; ) {
    events.push(...window);
    window = await stream.file.readForward(window.at(-1)?.end ?? 0);
  }
  return events;
}

const filterLogEvents = (store: LogStore): Operation =>
  operation(
    z.object({
      logGroupName: group,
      logStreamNames: z.array(z.string()).max(100).optional(),
      logStreamNamePrefix: z.string().optional(),
      startTime: z.number().default(0),
      endTime: z.number().default(Number.POSITIVE_INFINITY),
      filterPattern: z.string().max(1024).optional(),
      nextToken: z.string().regex(/^\d+$/).optional(),
      limit,
    }),
    async (input) => {
      const matches = matcher(input.filterPattern);
      const streams = [...streamsOf(store, input.logGroupName).values()].filter(
        ({ name }) =>
          name.startsWith(input.logStreamNamePrefix ?? "") && (input.logStreamNames?.includes(name) ?? true),
      );
      const found: object[] = [];
      const all = await Promise.all(
        streams.map(async (stream) => (await everyEvent(stream)).map((event) => ({ ...event, stream: stream.name }))),
      );
      for (const { stream, start, timestamp, ingestionTime, message } of all
        .flat()
        .sort((a, b) => a.timestamp - b.timestamp)) {
        if (timestamp < input.startTime || timestamp > input.endTime || !matches(message)) continue;
        found.push({ logStreamName: stream, eventId: `${stream}:${start}`, timestamp, ingestionTime, message });
      }
      const offset = Number(input.nextToken ?? 0);
      const end = offset + input.limit;
      return { events: found.slice(offset, end), ...(end < found.length ? { nextToken: String(end) } : {}) };
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
      await Promise.all(streams.map(learnTimes));
      const byName = (a: LogStream, b: LogStream) => (a.name < b.name ? -1 : 1);
      const byTime = (a: LogStream, b: LogStream) => (a.lastEventTimestamp ?? 0) - (b.lastEventTimestamp ?? 0);
      streams.sort(input.orderBy === "LastEventTime" ? byTime : byName);
      if (input.descending) streams.reverse();
      const offset = Number(input.nextToken ?? 0);
      const end = offset + input.limit;
      return {
        logStreams: streams
          .slice(offset, end)
          .map(({ file: _, name, ...times }) => ({ logStreamName: name, ...times })),
        ...(end < streams.length ? { nextToken: String(end) } : {}),
      };
    },
  );

/** After a restart the times of a stream are known from its first and last event only. */
async function learnTimes(stream: LogStream): Promise<void> {
  if (stream.firstEventTimestamp !== undefined && stream.lastIngestionTime !== undefined) return;
  const first = (await stream.file.readForward(0))[0];
  const last = (await stream.file.readBackward(stream.file.end)).at(-1);
  if (first) stream.firstEventTimestamp = first.timestamp;
  if (last) Object.assign(stream, { lastEventTimestamp: last.timestamp, lastIngestionTime: last.ingestionTime });
}

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
      return { nextSequenceToken: String(stream.file.end) };
    },
  );

const createLogStream = (store: LogStore): Operation =>
  operation(z.object({ logGroupName: group, logStreamName: group }), (input) => {
    if (streamsOf(store, input.logGroupName).has(input.logStreamName))
      throw new AwsError("ResourceAlreadyExistsException", "The specified log stream already exists");
    store.createStream(input.logGroupName, input.logStreamName);
    return {};
  });

const createLogGroup = (store: LogStore): Operation =>
  operation(z.object({ logGroupName: group }), (input) => {
    if (store.group(input.logGroupName))
      throw new AwsError("ResourceAlreadyExistsException", "The specified log group already exists");
    store.createGroup(input.logGroupName);
    return {};
  });

/** The calls of CloudWatch Logs that the service makes. */
export function logOperations(store: LogStore): Record<string, Operation> {
  return {
    CreateLogGroup: createLogGroup(store),
    CreateLogStream: createLogStream(store),
    PutLogEvents: putLogEvents(store),
    GetLogEvents: getLogEvents(store),
    FilterLogEvents: filterLogEvents(store),
    DescribeLogStreams: describeLogStreams(store),
  };
}
