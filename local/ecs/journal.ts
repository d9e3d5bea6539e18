import type { Cluster } from "./cluster.ts";
import { addEvent, repeatEvent } from "./events.ts";
import type { ServiceRecord } from "./records.ts";

/** Saves the record of one service and adds its events. */
export class Journal {
  readonly record: ServiceRecord;
  readonly #cluster: Cluster;
  #closed = false;

  constructor(cluster: Cluster, record: ServiceRecord) {
    this.#cluster = cluster;
    this.record = record;
  }

  now(): number {
    return this.#cluster.host.now();
  }
  save(): Promise<void> {
    return this.#cluster.store.saveService(this.record);
  }
  /** Saves in the background; after a failed write, the next save contains the change. */
  saveSoon(): void {
    if (!this.#closed) this.save().catch(() => {});
  }
  event(message: string): void {
    addEvent(this.record, this.now(), message);
    this.saveSoon();
  }
  /** Adds an event, or updates the time of an equal one that is not older than `since`. */
  repeated(message: string, since: number): void {
    if (repeatEvent(this.record, this.now(), since, message)) this.saveSoon();
  }
  /** Saves the record a last time; later events are not saved. */
  async close(): Promise<void> {
    await this.save();
    this.#closed = true;
  }
}
