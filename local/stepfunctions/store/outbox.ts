import { rmSync } from "node:fs";
import type { StepFunctionsBehavior } from "../behavior.ts";
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
  behavior: StepFunctionsBehavior;
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

  /** Resolves after this time; never if the outbox is closed before. */
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const cancel = options.clock.at(options.clock.now() + ms, () => {
        timers.delete(cancel);
        resolve();
      });
      timers.add(cancel);
    });

  /** Resolves when the event has been delivered; a rejection is retried with back-off. */
  const untilDelivered = async (event: StatusChangeEvent): Promise<void> => {
    for (let tries = 0; !closed; tries += 1) {
      try {
        return await options.deliver(event);
      } catch {
        if (!closed) await pause(Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** tries));
      }
    }
  };

  /** All deliveries of an event, if it has any. */
  const deliverAll = async (execution: Execution, event: StatusChangeEvent): Promise<void> => {
    const deliveries = options.behavior.deliveriesMs(event.detail).map(async (ms) => {
      if (ms > 0) await pause(ms);
      await untilDelivered(event);
    });
    await Promise.all(deliveries);
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
        void deliverAll(execution, event);
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
