import { appendFileSync, readFileSync, truncateSync } from "node:fs";
import * as z from "zod";
import { JournalBroken } from "../interpreter/errors.ts";

const answer = z.union([
  /** `error` is null when the worker named none. */
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
  /** When the last sign of life came. */
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
  /** Hash of the definition that the execution runs on. */
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

/** A Task's token was answered: with an output, or with an error. */
export type Answer = z.infer<typeof answer>;
export type Ending = z.infer<typeof ending>;
export type Identity = z.infer<typeof identity>;
export type HistoryEvent = z.infer<typeof historyEvent>;
export type Entry = z.infer<typeof entry>;

/** The history of a closed or running execution, as it is kept on disk. */
export const historySchema = z.array(historyEvent);
export const identitySchema = identity;
export const endingSchema = ending;

/**
 * An execution's append-only file, one JSON line per entry. Entries are buffered until `flush`, which must come before
 * any effect that the entry tells of. Written to the page cache: it survives the process, not a power cut.
 */
export interface Journal {
  append(entry: Entry): void;
  flush(): void;
  /** Flushes if it can; from now on nothing is written: the service closes and what follows belongs to its successor. */
  seal(): void;
}

const BUFFER_MAX = 64 * 1024;

/** Opens a journal for appending; the file is made by the first flush. After a failed write every flush throws: its tail is unknown. */
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
        // A journal that cannot be written resumes from its last written line.
      }
      sealed = true;
    },
  };
}

/**
 * Reads a journal. A torn last line (the process died while writing) is cut off the file, so that appending is safe; so is
 * everything from a line that cannot be read, and `damaged` tells it.
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
