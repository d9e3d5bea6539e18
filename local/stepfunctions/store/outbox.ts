import { rmSync } from "node:fs";
import type { Clock } from "../interpreter/clock.ts";
import { type Execution, recordNow } from "../interpreter/execution.ts";
import { type StatusChangeEvent, statusEvent } from "../interpreter/status-event.ts";

const BACKOFF_FIRST_MS = 100;
const BACKOFF_MAX_MS = 30_000;

/** Delivers status changes at least once. Delivered ones are recorded in the journal; others are delivered again at resume. */
export interface Outbox {
  /** Delivers the undelivered events of an execution; deletes the journal of an ended execution afterwards. */
  deliver(execution: Execution): void;
  pending(): number;
  close(): void;
}

/** Creates an outbox that passes events to `deliver`; a rejection is retried with back-off. */
export function createOutbox(options: {
  clock: Clock;
  region: string;
  deliver: (event: StatusChangeEvent) => Promise<void>;
  journalPath: (file: string) => string;
  changed: () => void;
}): Outbox {
  const undelivered = new Map<Execution, Set<string>>();
  const timers = new Set<() => void>();
  let closed = false;

  const recordDelivered = (execution: Execution, status: string) => {
    const statuses = undelivered.get(execution);
    statuses?.delete(status);
    try {
      recordNow(execution, { t: "delivered", status });
    } catch {
      // The journal cannot be written, so the event is delivered again at the next resume.
    }
    if (statuses?.size === 0) undelivered.delete(execution);
    if (execution.ending && !undelivered.has(execution)) rmSync(options.journalPath(execution.file), { force: true });
    options.changed();
  };

  const attempt = async (execution: Execution, event: StatusChangeEvent, tries: number): Promise<void> => {
    try {
      await options.deliver(event);
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
    if (!closed) recordDelivered(execution, event.detail.status);
  };

  return {
    deliver(execution) {
      const { identity, ending } = execution;
      const events = [statusEvent(identity, undefined, options.region)];
      if (ending) events.push(statusEvent(identity, ending, options.region));
      const statuses = undelivered.get(execution) ?? new Set();
      for (const event of events) {
        const { status } = event.detail;
        if (statuses.has(status) || execution.delivered.has(status)) continue;
        undelivered.set(execution, statuses.add(status));
        void attempt(execution, event, 0);
      }
      if (ending && !undelivered.has(execution)) rmSync(options.journalPath(execution.file), { force: true });
    },
    pending: () => undelivered.size,
    close() {
      closed = true;
      for (const cancel of timers) cancel();
    },
  };
}
