import { rmSync } from "node:fs";
import type { Clock } from "../interpreter/clock.ts";
import { type Execution, recordNow } from "../interpreter/execution.ts";
import { type StatusChangeEvent, statusEvent } from "../interpreter/status-event.ts";

const BACKOFF_FIRST_MS = 100;
const BACKOFF_MAX_MS = 30_000;

/** Delivers status changes at least once; what was taken is in the journal, what was not is delivered again at resume. */
export interface Outbox {
  /** Delivers every event of the execution that has not been taken; then forgets the journal of an ended one. */
  deliver(execution: Execution): void;
  pending(): number;
  close(): void;
}

/** An outbox that hands events to `take`; a rejection is tried again with back-off. */
export function createOutbox(options: {
  clock: Clock;
  region: string;
  take: (event: StatusChangeEvent) => Promise<void>;
  journalPath: (file: string) => string;
  changed: () => void;
}): Outbox {
  const underway = new Map<Execution, Set<string>>();
  const timers = new Set<() => void>();
  let closed = false;

  const taken = (execution: Execution, status: string) => {
    const statuses = underway.get(execution);
    statuses?.delete(status);
    try {
      recordNow(execution, { t: "delivered", status });
    } catch {
      // The journal is broken: the event is delivered again at the next resume.
    }
    if (statuses?.size === 0) underway.delete(execution);
    if (execution.ending && !underway.has(execution)) rmSync(options.journalPath(execution.file), { force: true });
    options.changed();
  };

  const attempt = async (execution: Execution, event: StatusChangeEvent, tries: number): Promise<void> => {
    try {
      await options.take(event);
    } catch {
      if (closed) return;
      const delay = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** tries);
      const cancel = options.clock.at(options.clock.now() + delay, () => {
        timers.delete(cancel);
        void attempt(execution, event, tries + 1);
      });
      timers.add(cancel);
      return;
    }
    if (!closed) taken(execution, event.detail.status);
  };

  return {
    deliver(execution) {
      const { identity, ending } = execution;
      const events = [statusEvent(identity, undefined, options.region)];
      if (ending) events.push(statusEvent(identity, ending, options.region));
      const statuses = underway.get(execution) ?? new Set();
      for (const event of events) {
        const { status } = event.detail;
        if (statuses.has(status) || execution.delivered.has(status)) continue;
        underway.set(execution, statuses.add(status));
        void attempt(execution, event, 0);
      }
      if (ending && !underway.has(execution)) rmSync(options.journalPath(execution.file), { force: true });
    },
    pending: () => underway.size,
    close() {
      closed = true;
      for (const cancel of timers) cancel();
    },
  };
}
