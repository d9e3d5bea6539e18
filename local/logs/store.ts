import { join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import * as z from "zod";
import { errorFields, log } from "../../lambdas/http/log.ts";
import { openSqliteFile } from "../sqlite-file.ts";
import { importSegments } from "./earlier-segments.ts";
import { mergeByTime, type StreamEvents, type Wanted } from "./merge.ts";

export interface LogEvent {
  timestamp: number;
  ingestionTime: number;
  message: string;
}

/** An event with its position in its stream: the number of bytes written before it, which never changes. */
export interface PlacedEvent extends LogEvent {
  position: number;
  /** The position after it. */
  end: number;
}

export interface LogStream {
  id: number;
  name: string;
  creationTime: number;
  firstEventTimestamp?: number;
  lastEventTimestamp?: number;
  lastIngestionTime?: number;
  /** `start`: the position of the oldest kept event. `end`: the position after the newest event. */
  start: number;
  end: number;
}

export interface LogStoreOptions {
  dir: string;
  /** A stream keeps its newest bytes: at least this many, at most twice as many. */
  streamBytesMax: number;
  /** A group keeps this many streams: those with the newest events. */
  streamsMax: number;
  messageBytesMax: number;
  now: () => number;
}

/** Pending events are written at the end of this turn of the event loop, or earlier if they are larger than this. */
const pendingBytesMax = 256 * 1024;
/** CloudWatch Logs counts this many bytes for each event in addition to its message. */
const eventBytes = 26;

const schema = `
  CREATE TABLE IF NOT EXISTS log_group (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE IF NOT EXISTS stream (
    id INTEGER PRIMARY KEY, group_id INTEGER NOT NULL, name TEXT NOT NULL, created_at INTEGER NOT NULL,
    first_at REAL, last_at REAL, ingested_at INTEGER, start INTEGER NOT NULL, end INTEGER NOT NULL,
    UNIQUE (group_id, name)) STRICT;
  CREATE TABLE IF NOT EXISTS event (
    stream_id INTEGER NOT NULL, position INTEGER NOT NULL, size INTEGER NOT NULL, timestamp REAL NOT NULL,
    ingested_at INTEGER NOT NULL, message BLOB NOT NULL, PRIMARY KEY (stream_id, position)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS event_time ON event (stream_id, timestamp, position)`;

const groupRow = z.object({ id: z.int(), name: z.string() });
const streamRow = z.object({
  id: z.int(),
  group_id: z.int(),
  name: z.string(),
  created_at: z.number(),
  first_at: z.number().nullable(),
  last_at: z.number().nullable(),
  ingested_at: z.number().nullable(),
  start: z.int(),
  end: z.int(),
});
const eventRow = z.tuple([z.int(), z.int(), z.int(), z.number(), z.number(), z.instanceof(Uint8Array)]);

const columns = "stream_id, position, size, timestamp, ingested_at, message";

function eventOf(row: unknown): PlacedEvent & { streamId: number } {
  const [streamId, position, size, timestamp, ingestionTime, message] = eventRow.parse(row);
  const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString("utf8");
  return { streamId, position, end: position + size, timestamp, ingestionTime, message: text };
}

/**
 * Log groups and streams in one SQLite file. Events are written in one transaction at the end of the turn of the event
 * loop; a read writes the pending events first, so that it finds them.
 */
export class LogStore {
  readonly #options: LogStoreOptions;
  readonly #database: DatabaseSync;
  readonly #groups = new Map<string, { id: number; streams: Map<string, LogStream> }>();
  readonly #statements: Record<"insert" | "update" | "trim" | "forward" | "backward", StatementSync>;
  #pending: { stream: LogStream; position: number; size: number; event: LogEvent; bytes: Buffer }[] = [];
  #pendingBytes = 0;
  #flushing: NodeJS.Immediate | undefined;

  constructor(options: LogStoreOptions) {
    this.#options = options;
    const database = openSqliteFile(join(options.dir, "logs.sqlite"), schema);
    this.#database = database;
    this.#statements = {
      insert: database.prepare(`INSERT INTO event (${columns}) VALUES (?, ?, ?, ?, ?, ?)`),
      update: database.prepare(
        "UPDATE stream SET first_at = ?, last_at = ?, ingested_at = ?, start = ?, end = ? WHERE id = ?",
      ),
      trim: database.prepare("DELETE FROM event WHERE stream_id = ? AND position < ?"),
      forward: database.prepare(`SELECT ${columns} FROM event WHERE stream_id = ? AND position >= ? ORDER BY position`),
      backward: database.prepare(
        `SELECT ${columns} FROM event WHERE stream_id = ? AND position < ? ORDER BY position DESC`,
      ),
    };
    for (const statement of [this.#statements.forward, this.#statements.backward]) statement.setReturnArrays(true);
    this.#load();
    importSegments(options.dir, this);
  }

  #load(): void {
    const names = new Map<number, string>();
    for (const row of this.#database.prepare("SELECT id, name FROM log_group").all()) {
      const { id, name } = groupRow.parse(row);
      names.set(id, name);
      this.#groups.set(name, { id, streams: new Map() });
    }
    for (const row of this.#database.prepare("SELECT * FROM stream ORDER BY id").all()) {
      const { group_id, created_at, first_at, last_at, ingested_at, ...rest } = streamRow.parse(row);
      const stream: LogStream = {
        ...rest,
        creationTime: created_at,
        ...(first_at !== null && { firstEventTimestamp: first_at }),
        ...(last_at !== null && { lastEventTimestamp: last_at }),
        ...(ingested_at !== null && { lastIngestionTime: ingested_at }),
      };
      this.#groups.get(names.get(group_id) ?? "")?.streams.set(rest.name, stream);
    }
  }

  /** The streams of a group by name, or undefined if the group does not exist. */
  group(name: string): ReadonlyMap<string, LogStream> | undefined {
    return this.#groups.get(name)?.streams;
  }

  createGroup(name: string): void {
    this.#ensureGroup(name);
  }

  #ensureGroup(name: string): { id: number; streams: Map<string, LogStream> } {
    const known = this.#groups.get(name);
    if (known) return known;
    const { lastInsertRowid } = this.#database.prepare("INSERT INTO log_group (name) VALUES (?)").run(name);
    const group = { id: Number(lastInsertRowid), streams: new Map<string, LogStream>() };
    this.#groups.set(name, group);
    return group;
  }

  /** Creates a stream, and its group if needed; deletes the group's oldest streams if it has more than the limit. */
  createStream(groupName: string, name: string): LogStream {
    const { id: groupId, streams } = this.#ensureGroup(groupName);
    const creationTime = this.#options.now();
    const { lastInsertRowid } = this.#database
      .prepare("INSERT INTO stream (group_id, name, created_at, start, end) VALUES (?, ?, ?, 0, 0)")
      .run(groupId, name, creationTime);
    const stream: LogStream = { id: Number(lastInsertRowid), name, creationTime, start: 0, end: 0 };
    streams.set(name, stream);
    while (streams.size > this.#options.streamsMax) this.#remove(streams, oldestOf(streams, stream));
    return stream;
  }

  /** Deletes a stream with its events. */
  deleteStream(groupName: string, stream: LogStream): void {
    this.#remove(this.#ensureGroup(groupName).streams, stream);
  }

  #remove(streams: Map<string, LogStream>, { id, name }: LogStream): void {
    this.#pending = this.#pending.filter(({ stream }) => stream.id !== id);
    streams.delete(name);
    this.#inTransaction(() => {
      this.#database.prepare("DELETE FROM event WHERE stream_id = ?").run(id);
      this.#database.prepare("DELETE FROM stream WHERE id = ?").run(id);
    });
  }

  append(stream: LogStream, timestamp: number, message: string, ingestionTime = this.#options.now()): void {
    const bytes = Buffer.from(message).subarray(0, this.#options.messageBytesMax);
    const size = bytes.length + eventBytes;
    stream.firstEventTimestamp ??= timestamp;
    stream.lastEventTimestamp = timestamp;
    stream.lastIngestionTime = ingestionTime;
    this.#pending.push({ stream, position: stream.end, size, event: { timestamp, ingestionTime, message }, bytes });
    stream.end += size;
    this.#pendingBytes += size;
    if (this.#pendingBytes > pendingBytesMax) this.flush();
    else this.#flushing ??= setImmediate(() => this.#flushSoon());
  }

  #inTransaction(work: () => void): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      work();
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** On a full disk the events are lost, but the service continues. */
  #flushSoon(): void {
    try {
      this.flush();
    } catch (error) {
      log("error", "Lines of output could not be written", errorFields(error));
    }
  }

  /** Writes the pending events. */
  flush(): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    if (this.#pending.length === 0) return;
    const { insert, update, trim } = this.#statements;
    const written = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#inTransaction(() => {
      const changed = new Set<LogStream>();
      for (const { stream, position, size, event, bytes } of written) {
        insert.run(stream.id, position, size, event.timestamp, event.ingestionTime, bytes);
        changed.add(stream);
      }
      for (const stream of changed) {
        if (stream.end - stream.start > 2 * this.#options.streamBytesMax) {
          stream.start = stream.end - this.#options.streamBytesMax;
          trim.run(stream.id, stream.start);
        }
        const {
          firstEventTimestamp = null,
          lastEventTimestamp = null,
          lastIngestionTime = null,
          start,
          end,
          id,
        } = stream;
        update.run(firstEventTimestamp, lastEventTimestamp, lastIngestionTime, start, end, id);
      }
    });
  }

  /** Iterates a stream's events from a position: forward oldest first, backward newest first. Rows are read on demand. */
  *read(stream: LogStream, direction: "f" | "b", position: number): Generator<PlacedEvent> {
    this.flush();
    const statement = direction === "f" ? this.#statements.forward : this.#statements.backward;
    for (const row of statement.iterate(stream.id, position)) {
      yield eventOf(row);
    }
  }

  /**
   * The events of these streams that contain every term, by time, from either end; `from` and `to` are inclusive. Only what is
   * read is loaded, however many events there are.
   */
  *find(streams: readonly LogStream[], wanted: Wanted): Generator<PlacedEvent & { stream: string }> {
    this.flush();
    const open = (stream: LogStream) => this.#inTimeOrder(stream, wanted);
    for (const event of mergeByTime(streams, open, wanted)) {
      if (wanted.terms.every((term) => event.message.includes(term))) yield event;
    }
  }

  *#inTimeOrder({ id, name }: LogStream, { from, to, newestFirst }: Wanted): StreamEvents {
    const order = newestFirst ? "DESC" : "ASC";
    const rows = this.#database.prepare(
      `SELECT ${columns} FROM event INDEXED BY event_time WHERE stream_id = ? AND timestamp BETWEEN ? AND ?
       ORDER BY timestamp ${order}, position ${order}`,
    );
    rows.setReturnArrays(true);
    for (const row of rows.iterate(id, from, to)) yield { ...eventOf(row), stream: name };
  }

  /** Deletes the events from before this time, and the streams that have no others. */
  deleteBefore(time: number): void {
    this.flush();
    for (const { streams } of this.#groups.values()) {
      for (const stream of [...streams.values()]) {
        if (Math.max(stream.creationTime, stream.lastIngestionTime ?? 0) < time) this.#remove(streams, stream);
        else if (stream.creationTime < time && (stream.firstEventTimestamp ?? time) < time)
          this.#deleteOldest(stream, time);
      }
    }
  }

  #deleteOldest(stream: LogStream, time: number): void {
    this.#inTransaction(() => {
      this.#database.prepare("DELETE FROM event WHERE stream_id = ? AND timestamp < ?").run(stream.id, time);
      const first = z
        .object({ position: z.int().nullable(), timestamp: z.number().nullable() })
        .parse(
          this.#database
            .prepare("SELECT MIN(position) AS position, MIN(timestamp) AS timestamp FROM event WHERE stream_id = ?")
            .get(stream.id),
        );
      stream.start = first.position ?? stream.end;
      if (first.timestamp !== null) stream.firstEventTimestamp = first.timestamp;
      this.#database
        .prepare("UPDATE stream SET start = ?, first_at = ? WHERE id = ?")
        .run(stream.start, first.timestamp, stream.id);
    });
  }

  /** False after `close`. */
  get isOpen(): boolean {
    return this.#database.isOpen;
  }

  /** Writes the pending events and closes the file; may be called twice. */
  close(): void {
    if (!this.isOpen) return;
    this.flush();
    this.#database.close();
  }
}

function oldestOf(streams: ReadonlyMap<string, LogStream>, kept: LogStream): LogStream {
  const age = (stream: LogStream) => (stream === kept ? Infinity : (stream.lastIngestionTime ?? stream.creationTime));
  return [...streams.values()].reduce((a, b) => (age(b) < age(a) ? b : a));
}
