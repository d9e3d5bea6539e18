import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { endingSchema, historySchema, type Identity, identitySchema } from "./journal.ts";

const summarySchema = z.object({
  file: z.string(),
  arn: z.string(),
  stateMachineArn: z.string(),
  name: z.string(),
  status: endingSchema.shape.status,
  startedAt: z.number(),
  stoppedAt: z.number(),
});
const closedSchema = z.object({ identity: identitySchema, ending: endingSchema, history: historySchema });

/** A closed execution in lists. */
export type ClosedSummary = z.infer<typeof summarySchema>;
/** A closed execution: identity, ending, and history without payloads. */
export type ClosedExecution = z.infer<typeof closedSchema>;

/** The closed executions: an index in memory, and one file per execution that is read on demand. */
export interface Archive {
  add(closed: ClosedExecution): void;
  find(arn: string): ClosedSummary | undefined;
  /** Throws if the file does not exist any more. */
  read(summary: ClosedSummary): ClosedExecution;
  list(): Iterable<ClosedSummary>;
}

const KEPT_MAX = 1_000;
/** The index is rewritten when it exceeds KEPT_MAX by this number. */
const SLACK = 200;
const KEPT_MS = 90 * 24 * 3_600_000;

/** A readable, unique file name for an execution, safe on case-insensitive file systems. */
export function fileNameOf(identity: Pick<Identity, "arn" | "name">): string {
  const readable = identity.name.toLowerCase().replace(/[^a-z0-9_-]/g, "_");
  return `${readable.slice(0, 40)}-${createHash("sha256").update(identity.arn).digest("hex").slice(0, 20)}`;
}

function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.tmp`, text, { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}

function parseLine(line: string): ClosedSummary | undefined {
  try {
    return summarySchema.parse(JSON.parse(line));
  } catch {
    return undefined; // incomplete after a crash; its journal still exists and adds it again
  }
}

function readIndex(path: string): ClosedSummary[] {
  try {
    const text = readFileSync(path, "utf8");
    const lines = text.split("\n").filter((line) => line !== "");
    // Ends an incomplete last line, so that the next one starts on its own line.
    if (text !== "" && !text.endsWith("\n")) appendFileSync(path, "\n");
    return lines.map(parseLine).filter((summary) => summary !== undefined);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** Opens the closed executions in `dir`. It keeps the newest 1,000, for at most 90 days (as AWS does). */
export function openArchive(dir: string, now: () => number): Archive {
  const records = join(dir, "closed");
  const indexPath = join(dir, "closed.jsonl");
  mkdirSync(records, { recursive: true, mode: 0o700 });
  const recordPath = (file: string) => join(records, `${file}.json`);
  const byArn = new Map(readIndex(indexPath).map((summary) => [summary.arn, summary]));

  const prune = () => {
    const newest = [...byArn.values()].sort((a, b) => b.stoppedAt - a.stoppedAt);
    const dropped = newest.filter((summary, rank) => rank >= KEPT_MAX || now() - summary.stoppedAt > KEPT_MS);
    if (dropped.length === 0) return;
    for (const summary of dropped) {
      byArn.delete(summary.arn);
      rmSync(recordPath(summary.file), { force: true });
    }
    writeWhole(indexPath, [...byArn.values()].map((summary) => `${JSON.stringify(summary)}\n`).join(""));
  };
  prune();

  return {
    add(closed) {
      const { arn, stateMachineArn, name, startedAt } = closed.identity;
      const { status, stoppedAt } = closed.ending;
      const summary = { file: fileNameOf(closed.identity), arn, stateMachineArn, name, status, startedAt, stoppedAt };
      if (byArn.get(arn)?.startedAt === startedAt) return; // the process died between archiving and deleting the journal
      writeWhole(recordPath(summary.file), JSON.stringify(closed));
      appendFileSync(indexPath, `${JSON.stringify(summary)}\n`, { mode: 0o600 });
      byArn.set(arn, summary);
      if (byArn.size > KEPT_MAX + SLACK) prune();
    },
    find(arn) {
      const summary = byArn.get(arn);
      return summary && now() - summary.stoppedAt <= KEPT_MS ? summary : undefined;
    },
    read: (summary) => closedSchema.parse(JSON.parse(readFileSync(recordPath(summary.file), "utf8"))),
    list: () => byArn.values(),
  };
}
