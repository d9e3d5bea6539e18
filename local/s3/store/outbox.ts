import type { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { type ObjectCreated, objectCreatedSchema } from "./object-created.ts";

const firstRetryMs = 50;
const longestRetryMs = 10_000;

/** Events that were promised with an upload and are kept until the receiver has taken them: at least once, in any order. */
export interface Outbox {
  /** Call it in the transaction that publishes the object. */
  add(event: ObjectCreated): void;
  /** Starts the delivery at once and does not wait for it; a refusal is repeated with back-off. */
  dispatch(event: ObjectCreated): void;
  /** Starts the delivery of everything that an earlier process left. */
  resume(): void;
  /** Stops repeating; undelivered events are delivered after the next start. */
  close(): void;
}

export interface OutboxOptions {
  deliver: (event: ObjectCreated) => Promise<void>;
  onError: (error: unknown) => void;
}

const rowSchema = z.object({ body: z.string() });

export function openOutbox(database: DatabaseSync, { deliver, onError }: OutboxOptions): Outbox {
  database.exec("CREATE TABLE IF NOT EXISTS event (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT");
  const insert = database.prepare("INSERT INTO event (id, body) VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM event WHERE id = ?");
  const pending = database.prepare("SELECT body FROM event ORDER BY rowid");
  const stopping = new AbortController();

  const untilDelivered = async (event: ObjectCreated) => {
    for (let waitMs = firstRetryMs; !stopping.signal.aborted; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      try {
        await deliver(event);
        if (!stopping.signal.aborted) remove.run(event.id);
        return;
      } catch (error) {
        onError(error);
        await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  };

  return {
    add: (event) => void insert.run(event.id, JSON.stringify(event)),
    // The uploader's answer goes out first: it is written in this turn of the loop.
    dispatch: (event) => void setImmediate(untilDelivered, event),
    resume() {
      for (const { body } of z.array(rowSchema).parse(pending.all())) {
        void untilDelivered(objectCreatedSchema.parse(JSON.parse(body)));
      }
    },
    close: () => stopping.abort(),
  };
}
