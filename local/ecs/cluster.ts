import type { Arns } from "./arns.ts";
import type { EcsBehavior } from "./behavior.ts";
import type { TestHeader } from "./gateway.ts";
import type { MetricSink } from "./measurements.ts";
import type { AddressBook } from "./public-address.ts";
import type { Store } from "./store.ts";
import type { TaskHost } from "./task.ts";

/** The parts that all services of a cluster share. */
export interface Cluster {
  arns: Arns;
  store: Store;
  host: TaskHost;
  testHeader: TestHeader;
  addresses: AddressBook;
  behavior: EcsBehavior;
  metrics: MetricSink;
}
