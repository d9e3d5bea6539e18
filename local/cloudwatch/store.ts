import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { errorFields, log } from "../../lambdas/http/log.ts";
import { openSqliteFile } from "../sqlite-file.ts";
import { addStatistics, addValue, noStatistics, type Statistics } from "./statistics.ts";

/** A metric as CloudWatch identifies it; the order of the dimensions does not matter. */
export interface Metric {
  namespace: string;
  name: string;
  dimensions: Readonly<Record<string, string>>;
}

export interface MetricStoreOptions {
  file: string;
  keptMs: number;
  now: () => number;
}

export const minuteMs = 60_000;
/** What was measured since the last write is lost if the process is killed. */
const flushMs = 5_000;

const schema = `
  CREATE TABLE IF NOT EXISTS metric (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE IF NOT EXISTS minute (
    metric_id INTEGER NOT NULL, at INTEGER NOT NULL, count INTEGER NOT NULL, sum REAL NOT NULL, min REAL NOT NULL,
    max REAL NOT NULL, buckets TEXT NOT NULL, PRIMARY KEY (metric_id, at)) STRICT, WITHOUT ROWID;`;

const idRow = z.object({ id: z.int() });
const minuteRow = z.tuple([z.int(), z.int(), z.number(), z.number(), z.number(), z.string()]);
const bucketList = z.array(z.tuple([z.int(), z.int()]));

const keyOf = ({ namespace, name, dimensions }: Metric) =>
  JSON.stringify([namespace, name, ...Object.entries(dimensions).sort(([one], [other]) => (one < other ? -1 : 1))]);

interface Minute {
  id: number;
  at: number;
  statistics: Statistics;
}

/** The statistics of each metric and minute, in one SQLite file, which is opened with the first use. */
export class MetricStore {
  readonly #options: MetricStoreOptions;
  readonly #ids = new Map<string, number>();
  /** The minutes that changed since the last write, by metric and time. */
  readonly #changed = new Map<string, Minute>();
  #database: DatabaseSync | undefined;
  #isClosed = false;
  #flushing: NodeJS.Timeout | undefined;

  constructor(options: MetricStoreOptions) {
    this.#options = options;
  }

  #open(): DatabaseSync {
    if (this.#database) return this.#database;
    this.#database = openSqliteFile(this.#options.file, schema);
    this.deleteOld();
    return this.#database;
  }

  /** The id of a metric; `undefined` if it has no values. */
  #find(metric: Metric): number | undefined {
    const name = keyOf(metric);
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const found = idRow.optional().parse(this.#open().prepare("SELECT id FROM metric WHERE name = ?").get(name));
    if (found) this.#ids.set(name, found.id);
    return found?.id;
  }

  #add(metric: Metric): number {
    const name = keyOf(metric);
    const id = Number(this.#open().prepare("INSERT INTO metric (name) VALUES (?)").run(name).lastInsertRowid);
    this.#ids.set(name, id);
    return id;
  }

  /** Adds a value that was measured now; after `close` it is ignored. */
  put(metric: Metric, value: number): void {
    if (this.#isClosed) return;
    const id = this.#find(metric) ?? this.#add(metric);
    const at = Math.floor(this.#options.now() / minuteMs);
    const key = `${id} ${at}`;
    let minute = this.#changed.get(key);
    if (!minute) {
      const [stored] = this.#stored(id, at, at + 1, true);
      minute = { id, at, statistics: stored?.statistics ?? noStatistics() };
      this.#changed.set(key, minute);
    }
    addValue(minute.statistics, value);
    this.#flushing ??= setTimeout(() => this.#flushSoon(), flushMs).unref();
  }

  *#stored(id: number, from: number, to: number, withBuckets: boolean): Generator<Minute> {
    const rows = this.#open().prepare(
      `SELECT at, count, sum, min, max, ${withBuckets ? "buckets" : "'[]'"} FROM minute
       WHERE metric_id = ? AND at >= ? AND at < ? ORDER BY at`,
    );
    rows.setReturnArrays(true);
    for (const row of rows.iterate(id, from, to)) {
      const [at, count, sum, min, max, buckets] = minuteRow.parse(row);
      yield { id, at, statistics: { count, sum, min, max, buckets: new Map(bucketList.parse(JSON.parse(buckets))) } };
    }
  }

  /** The statistics of each period that has values, by its start in milliseconds; all times are multiples of the period. */
  read(
    metric: Metric,
    { from, to, periodMs }: { from: number; to: number; periodMs: number },
    withBuckets: boolean,
  ): Map<number, Statistics> {
    this.flush();
    const periods = new Map<number, Statistics>();
    const id = this.#find(metric);
    if (id === undefined) return periods;
    for (const { at, statistics } of this.#stored(id, from / minuteMs, to / minuteMs, withBuckets)) {
      const start = Math.floor((at * minuteMs) / periodMs) * periodMs;
      const period = periods.get(start);
      if (period) addStatistics(period, statistics);
      else periods.set(start, statistics);
    }
    return periods;
  }

  /** On a full disk the values are lost, but the service continues. */
  #flushSoon(): void {
    try {
      this.flush();
    } catch (error) {
      log("error", "Measurements of apps could not be written", errorFields(error));
    }
  }

  /** Writes the minutes that changed. */
  flush(): void {
    clearTimeout(this.#flushing);
    this.#flushing = undefined;
    if (this.#changed.size === 0) return;
    const minutes = [...this.#changed.values()];
    this.#changed.clear();
    const database = this.#open();
    const write = database.prepare("INSERT OR REPLACE INTO minute VALUES (?, ?, ?, ?, ?, ?, ?)");
    database.exec("BEGIN IMMEDIATE");
    for (const { id, at, statistics } of minutes) {
      const { count, sum, min, max, buckets } = statistics;
      write.run(id, at, count, sum, min, max, JSON.stringify([...buckets]));
    }
    database.exec("COMMIT");
  }

  /** Deletes the minutes that are kept no longer, and the metrics that have no others. */
  deleteOld(): void {
    this.flush();
    if (!this.#database) return;
    const oldest = Math.floor((this.#options.now() - this.#options.keptMs) / minuteMs);
    this.#database.prepare("DELETE FROM minute WHERE at < ?").run(oldest);
    this.#database.exec("DELETE FROM metric WHERE id NOT IN (SELECT metric_id FROM minute)");
    this.#ids.clear();
  }

  /** Writes what changed and closes the file; may be called twice. */
  close(): void {
    if (this.#isClosed) return;
    this.flush();
    this.#isClosed = true;
    this.#database?.close();
  }
}
