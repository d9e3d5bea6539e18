import type { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import type { S3Behavior } from "../behavior.ts";
import { type ObjectCreated, objectCreatedSchema } from "./object-created.ts";

const firstRetryMs = 50;
const longestRetryMs = 10_000;

/** Stores the events of uploads until they are delivered: at least once, in any order. */
export interface Outbox {
  /** Must be called in the transaction that publishes the object. */
  add(event: ObjectCreated): void;
  /** Starts the delivery without waiting for it; a rejection is retried with back-off. */
  dispatch(event: ObjectCreated): void;
  /** Starts the delivery of events that an earlier process has not delivered. */
  resume(): void;
  /** Stops retries; undelivered events are delivered after the next start. */
  close(): void;
}

export interface OutboxOptions {
  deliver: (event: ObjectCreated) => Promise<void>;
  onError: (error: unknown) => void;
  behavior: S3Behavior;
}

const rowSchema = z.object({ body: z.string() });

export function openOutbox(database: DatabaseSync, { deliver, onError, behavior }: OutboxOptions): Outbox {
  database.exec("CREATE TABLE IF NOT EXISTS event (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT");
  const insert = database.prepare("INSERT INTO event (id, body) VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM event WHERE id = ?");
  const pending = database.prepare("SELECT body FROM event ORDER BY rowid");
  const stopping = new AbortController();

  const untilDelivered = async (event: ObjectCreated) => {
    for (let waitMs = firstRetryMs; !stopping.signal.aborted; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      try {
        await deliver(event);
        return;
      } catch (error) {
        onError(error);
        await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  };

  /** All deliveries of an event; it is removed after the last one. */
  const deliverAll = async (event: ObjectCreated) => {
    const deliveries = behavior.deliveriesMs(event.id).map(async (ms) => {
      if (ms > 0) await delay(ms, undefined, { signal: stopping.signal }).catch(() => {});
      await untilDelivered(event);
    });
    await Promise.all(deliveries);
    if (!stopping.signal.aborted) remove.run(event.id);
  };

  return {
    add: (event) => void insert.run(event.id, JSON.stringify(event)),
    // Delayed, so that the answer of the upload, which is written in this turn of the event loop, is sent first.
    dispatch: (event) => void setImmediate(deliverAll, event),
    resume() {
      for (const { body } of z.array(rowSchema).parse(pending.all())) {
        void deliverAll(objectCreatedSchema.parse(JSON.parse(body)));
      }
    },
    close: () => stopping.abort(),
  };
}
