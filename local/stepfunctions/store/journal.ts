import { appendFileSync, readFileSync, truncateSync } from "node:fs";
import * as z from "zod";
import { JournalBroken } from "../interpreter/errors.ts";

const answer = z.union([
  /** `error` is null if the worker sent no error name. */
  z.strictObject({ error: z.string().nullable(), cause: z.string().optional() }),
  z.strictObject({ output: z.unknown() }),
]);

const ending = z.object({
  status: z.enum(["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]),
  stoppedAt: z.number(),
  /** JSON text. */
  output: z.string().optional(),
  error: z.string().optional(),
  cause: z.string().optional(),
});

const attempt = z.object({
  deadline: z.number().optional(),
  heartbeatSeconds: z.number().optional(),
  /** The time of the last heartbeat. */
  aliveAt: z.number(),
  token: z.string().optional(),
});

const historyEvent = z.object({
  type: z.string(),
  at: z.number(),
  state: z.string().optional(),
  resource: z.string().optional(),
  error: z.string().optional(),
  cause: z.string().optional(),
});

const identity = z.object({
  arn: z.string(),
  stateMachineArn: z.string(),
  name: z.string(),
  roleArn: z.string(),
  /** JSON text as it was sent. */
  input: z.string(),
  startedAt: z.number(),
  deadline: z.number().optional(),
  /** The hash of the execution's definition. */
  definition: z.string(),
});

const entry = z.discriminatedUnion("t", [
  z.object({ t: z.literal("started"), ...identity.shape }),
  z.object({ t: z.literal("event"), ...historyEvent.shape }),
  z.object({
    t: z.literal("entered"),
    state: z.string(),
    at: z.number(),
    input: z.unknown(),
    variables: z.record(z.string(), z.unknown()),
  }),
  z.object({ t: z.literal("waiting"), until: z.number() }),
  z.object({ t: z.literal("attempt"), ...attempt.shape }),
  z.object({ t: z.literal("submitted") }),
  z.object({ t: z.literal("heartbeat"), at: z.number() }),
  z.object({ t: z.literal("answer"), answer }),
  z.object({ t: z.literal("retry"), retrier: z.number(), due: z.number() }),
  z.object({ t: z.literal("ended"), ...ending.shape }),
  z.object({ t: z.literal("delivered"), status: z.string() }),
]);

/** The answer to a task token: an output or an error. */
export type Answer = z.infer<typeof answer>;
export type Ending = z.infer<typeof ending>;
export type Identity = z.infer<typeof identity>;
export type HistoryEvent = z.infer<typeof historyEvent>;
export type Entry = z.infer<typeof entry>;

/** The history of an execution on disk. */
export const historySchema = z.array(historyEvent);
export const identitySchema = identity;
export const endingSchema = ending;

/**
 * An execution's append-only file with one JSON line per entry. Entries are buffered until `flush`, which must be called
 * before the effect of an entry. There is no fsync: the file survives a crash of the process, but not a power failure.
 */
export interface Journal {
  append(entry: Entry): void;
  flush(): void;
  /** Flushes if possible; afterwards nothing is written, because the next process continues the execution. */
  seal(): void;
}

const BUFFER_MAX = 64 * 1024;

/** Opens a journal; the first flush creates the file. After a failed write the end of the file is unknown, so every flush throws. */
export function openJournal(path: string): Journal {
  let buffer = "";
  let sealed = false;
  let failure: JournalBroken | undefined;
  const flush = () => {
    if (failure) throw failure;
    if (buffer === "" || sealed) return;
    const lines = buffer;
    buffer = "";
    try {
      appendFileSync(path, lines, { mode: 0o600 });
    } catch (error) {
      failure = new JournalBroken(`${path}: ${String(error)}`);
      throw failure;
    }
  };
  return {
    append(line) {
      if (sealed) return;
      buffer += `${JSON.stringify(line)}\n`;
      if (buffer.length > BUFFER_MAX) flush();
    },
    flush,
    seal() {
      try {
        flush();
      } catch {
        // The execution resumes from the last written line.
      }
      sealed = true;
    },
  };
}

/**
 * Reads a journal. An incomplete last line (the process died while writing) is removed from the file, so that appending
 * is safe. Everything after an unreadable line is removed too, and then `damaged` is true.
 */
export function readJournal(path: string): { entries: Entry[]; damaged: boolean } {
  const bytes = readFileSync(path);
  const entries: Entry[] = [];
  let start = 0;
  let damaged = false;
  for (let end = bytes.indexOf(0x0a); end !== -1 && !damaged; end = bytes.indexOf(0x0a, start)) {
    try {
      entries.push(entry.parse(JSON.parse(bytes.toString("utf8", start, end))));
      start = end + 1;
    } catch {
      damaged = true;
    }
  }
  if (start < bytes.length) truncateSync(path, start);
  return { entries, damaged };
}
