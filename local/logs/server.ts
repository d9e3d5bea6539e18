import type { JsonService } from "../aws/service.ts";
import { logOperations } from "./operations.ts";
import { LogStore } from "./store.ts";

/** One line of output; the timestamp is in milliseconds since the epoch. */
export interface LogLine {
  logGroup: string;
  logStream: string;
  timestamp: number;
  message: string;
}

export interface Logs {
  service: JsonService;
  /** Adds a line; creates its group and stream if they do not exist, as the awslogs driver does. */
  put(line: LogLine): void;
  close(): void;
}

export interface LogsOptions {
  dir: string;
  /** A stream keeps its newest bytes: at least this many, at most twice as many. */
  streamBytesMax?: number;
  /** A group keeps this many streams: those with the newest events. */
  streamsMax?: number;
  now?: () => number;
}

/** The retention of the log groups. */
const keptMs = 30 * 24 * 3_600_000;
const expireEveryMs = 3_600_000;

/** CloudWatch Logs on a SQLite file in `dir`. The state survives a restart and a SIGKILL. */
export function createLogs(options: LogsOptions): Logs {
  const now = options.now ?? Date.now;
  const store = new LogStore({
    dir: options.dir,
    streamBytesMax: options.streamBytesMax ?? 256 * 1024 * 1024,
    streamsMax: options.streamsMax ?? 5000,
    messageBytesMax: 256 * 1024,
    now,
  });
  const expire = () => store.deleteBefore(now() - keptMs);
  expire();
  const expiring = setInterval(expire, expireEveryMs).unref();
  return {
    service: { target: "Logs_20140328", operations: logOperations(store) },
    put: ({ logGroup, logStream, timestamp, message }) => {
      // The last output of a process may arrive after `close`.
      if (!store.isOpen) return;
      const stream = store.group(logGroup)?.get(logStream) ?? store.createStream(logGroup, logStream);
      store.append(stream, timestamp, message);
    },
    close: () => {
      clearInterval(expiring);
      store.close();
    },
  };
}
