import type { Cluster } from "./cluster.ts";
import { addEvent, repeatEvent } from "./events.ts";
import type { ServiceRecord } from "./records.ts";

/** What a service writes down: its record on disk and its events. */
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
  /** Saves without anybody waiting; what cannot be written now is written with the next change. */
  saveSoon(): void {
    if (!this.#closed) this.save().catch(() => {});
  }
  event(message: string): void {
    addEvent(this.record, this.now(), message);
    this.saveSoon();
  }
  /** An event that is said once from `since` on, then only dated anew. */
  repeated(message: string, since: number): void {
    if (repeatEvent(this.record, this.now(), since, message)) this.saveSoon();
  }
  /** Writes what there is; from then on nothing is written. */
  async close(): Promise<void> {
    await this.save();
    this.#closed = true;
  }
}
