import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { AwsError } from "../aws/service.ts";
import { type LogEvent, StreamFile } from "./stream-file.ts";

export interface LogStream {
  name: string;
  creationTime: number;
  firstEventTimestamp?: number;
  lastEventTimestamp?: number;
  lastIngestionTime?: number;
  file: StreamFile;
}

export interface LogStoreOptions {
  dir: string;
  segmentBytesMax: number;
  streamsMax: number;
  messageBytesMax: number;
  now: () => number;
}

/** A task that ends again and again makes a stream each time, so a write that waits longer than this is not batched. */
const pendingBytesMax = 256 * 1024;

function encodeName(name: string): string {
  const encoded = encodeURIComponent(name).replaceAll(".", "%2E");
  if (name === "" || name.includes("*") || name.includes(":") || encoded.length > 200)
    throw new AwsError("InvalidParameterException", "the name of a log group or log stream is too long or not allowed");
  return encoded;
}

/** Log groups and streams in a folder; what was put is read at once, and on disk by the next turn of the event loop. */
export class LogStore {
  readonly #options: LogStoreOptions;
  readonly #groups = new Map<string, Map<string, LogStream>>();
  readonly #dirty = new Set<StreamFile>();
  #flushing: NodeJS.Immediate | undefined;

  constructor(options: LogStoreOptions) {
    this.#options = options;
    mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  }

  #groupDir(group: string): string {
    return join(this.#options.dir, encodeName(group));
  }

  #open(group: string, name: string): LogStream {
    const dir = join(this.#groupDir(group), encodeName(name));
    const file = new StreamFile(dir, this.#options.segmentBytesMax);
    return { name, creationTime: Math.floor(statSync(dir).birthtimeMs), file };
  }

  /** The streams of a group by name, or undefined when there is no such group. */
  group(group: string): Map<string, LogStream> | undefined {
    const known = this.#groups.get(group);
    if (known) return known;
    const dir = this.#groupDir(group);
    if (!existsSync(dir)) return undefined;
    const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const names = folders.map((entry) => decodeURIComponent(entry.name));
    const streams = new Map(names.map((name) => [name, this.#open(group, name)]));
    this.#groups.set(group, streams);
    return streams;
  }

  createGroup(group: string): Map<string, LogStream> {
    const existing = this.group(group);
    if (existing) return existing;
    mkdirSync(this.#groupDir(group), { recursive: true, mode: 0o700 });
    const streams = new Map<string, LogStream>();
    this.#groups.set(group, streams);
    return streams;
  }

  createStream(group: string, name: string): LogStream {
    const streams = this.createGroup(group);
    const stream = this.#open(group, name);
    stream.creationTime = this.#options.now();
    streams.set(name, stream);
    this.#removeOldest(group, streams, stream);
    return stream;
  }

  #removeOldest(group: string, streams: Map<string, LogStream>, kept: LogStream): void {
    while (streams.size > this.#options.streamsMax) {
      const age = (stream: LogStream) =>
        stream === kept ? Infinity : (stream.lastIngestionTime ?? stream.creationTime);
      const oldest = [...streams.values()].reduce((a, b) => (age(b) < age(a) ? b : a));
      this.#dirty.delete(oldest.file);
      streams.delete(oldest.name);
      rmSync(join(this.#groupDir(group), encodeName(oldest.name)), { recursive: true, force: true });
    }
  }

  append(stream: LogStream, timestamp: number, message: string): void {
    const event: LogEvent = { timestamp, ingestionTime: this.#options.now(), message: this.#cut(message) };
    stream.firstEventTimestamp ??= timestamp;
    stream.lastEventTimestamp = timestamp;
    stream.lastIngestionTime = event.ingestionTime;
    stream.file.append(event);
    this.#dirty.add(stream.file);
    if (stream.file.pendingBytes > pendingBytesMax) stream.file.flush();
    this.#flushing ??= setImmediate(() => this.flush());
  }

  #cut(message: string): string {
    const { messageBytesMax } = this.#options;
    if (message.length * 3 <= messageBytesMax) return message;
    const bytes = Buffer.from(message);
    return bytes.length <= messageBytesMax ? message : bytes.toString("utf8", 0, messageBytesMax);
  }

  flush(): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    for (const file of this.#dirty) file.flush();
    this.#dirty.clear();
  }
}
