import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

export interface LogEvent {
  timestamp: number;
  ingestionTime: number;
  message: string;
}
/** An event with its place in the stream: the position of its first byte and that of the byte after its last. */
export interface PlacedEvent extends LogEvent {
  start: number;
  end: number;
}

interface Segment {
  /** The position in the stream of the file's first byte; it is also the file's name. */
  start: number;
  size: number;
}

const storedEvent = z.tuple([z.number(), z.number(), z.string()]);
const newline = 10;
/** Longer than any stored line, so that a window of this size holds at least one whole event. */
const windowBytes = 2 * 1024 * 1024;

function loadSegments(dir: string): Segment[] {
  const starts = readdirSync(dir)
    .filter((name) => /^\d+\.jsonl$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
  return starts.map((start) => ({ start, size: statSync(join(dir, `${start}.jsonl`)).size }));
}

function endsWithNewline(path: string, size: number): boolean {
  const file = openSync(path, "r");
  try {
    const byte = Buffer.alloc(1);
    return readSync(file, byte, 0, 1, size - 1) === 1 && byte[0] === newline;
  } finally {
    closeSync(file);
  }
}

/** One log stream on disk: append-only files of bounded size, of which the oldest are removed. Positions never change. */
export class StreamFile {
  readonly #dir: string;
  readonly #segmentBytesMax: number;
  readonly #segments: Segment[];
  #pending: string[] = [];
  #pendingBytes = 0;

  constructor(dir: string, segmentBytesMax: number) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#dir = dir;
    this.#segmentBytesMax = segmentBytesMax;
    this.#segments = loadSegments(dir);
    if (this.#segments.length === 0) this.#segments.push({ start: 0, size: 0 });
    this.#dropTornLine();
  }

  #path(segment: Segment): string {
    return join(this.#dir, `${segment.start}.jsonl`);
  }

  get #last(): Segment {
    const last = this.#segments.at(-1);
    if (!last) throw new Error("a stream always has a segment");
    return last;
  }

  /** A machine that stopped in the middle of a write leaves half a line. */
  #dropTornLine(): void {
    const last = this.#last;
    if (last.size === 0 || endsWithNewline(this.#path(last), last.size)) return;
    last.size = readFileSync(this.#path(last)).lastIndexOf(newline) + 1;
    truncateSync(this.#path(last), last.size);
  }

  get start(): number {
    return this.#segments[0]?.start ?? 0;
  }
  get end(): number {
    return this.#last.start + this.#last.size;
  }
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  append(event: LogEvent): void {
    const line = `${JSON.stringify([event.timestamp, event.ingestionTime, event.message])}\n`;
    this.#pending.push(line);
    this.#pendingBytes += line.length;
  }

  flush(): void {
    if (this.#pending.length === 0) return;
    const bytes = Buffer.from(this.#pending.join(""));
    this.#pending = [];
    this.#pendingBytes = 0;
    if (this.#last.size >= this.#segmentBytesMax) this.#segments.push({ start: this.end, size: 0 });
    const last = this.#last;
    appendFileSync(this.#path(last), bytes, { mode: 0o600 });
    last.size += bytes.length;
    while (this.#segments.length > 2) {
      const oldest = this.#segments.shift();
      if (oldest) rmSync(this.#path(oldest), { force: true });
    }
  }

  async #read(segment: Segment, from: number, to: number): Promise<PlacedEvent[]> {
    if (to <= from) return [];
    let file: FileHandle;
    try {
      file = await open(this.#path(segment));
    } catch {
      return [];
    }
    try {
      const bytes = Buffer.alloc(to - from);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, from - segment.start);
      return parseLines(bytes.subarray(0, bytesRead), from);
    } finally {
      await file.close();
    }
  }

  /** Up to one window of whole events from `position` on, oldest first. */
  async readForward(position: number): Promise<PlacedEvent[]> {
    this.flush();
    const from = Math.max(position, this.start);
    const segment = this.#segments.find(({ start, size }) => from < start + size);
    if (!segment) return [];
    return this.#read(segment, from, Math.min(segment.start + segment.size, from + windowBytes));
  }

  /** Up to one window of whole events that end at `position`, oldest first. */
  async readBackward(position: number): Promise<PlacedEvent[]> {
    this.flush();
    const to = Math.min(position, this.end);
    const segment = this.#segments.findLast(({ start }) => start < to);
    if (!segment) return [];
    const from = Math.max(segment.start, to - windowBytes);
    const events = await this.#read(segment, from, to);
    // A window that begins inside the file most likely begins inside a line, which then cannot be parsed or trusted.
    return from === segment.start ? events : events.slice(1);
  }
}

function parseLines(bytes: Buffer, position: number): PlacedEvent[] {
  const events: PlacedEvent[] = [];
  let from = 0;
  for (let to = bytes.indexOf(newline); to !== -1; to = bytes.indexOf(newline, from)) {
    const event = parseLine(bytes.toString("utf8", from, to));
    events.push({ ...event, start: position + from, end: position + to + 1 });
    from = to + 1;
  }
  return events;
}

function parseLine(line: string): LogEvent {
  try {
    const [timestamp, ingestionTime, message] = storedEvent.parse(JSON.parse(line));
    return { timestamp, ingestionTime, message };
  } catch {
    return { timestamp: 0, ingestionTime: 0, message: "" };
  }
}
