import { setTimeout as delay } from "node:timers/promises";
import { type Gateway, openGateway, type Route, type TestHeader } from "./gateway.ts";
import type { Journal } from "./journal.ts";

const retryMs = 1000;
const closeMsMax = 500;

/** The address of one service: its port is remembered in the record, so it stays the same. */
export class PublicAddress {
  readonly #journal: Journal;
  readonly #route: Route;
  readonly #testHeader: TestHeader;
  readonly #closing = new AbortController();
  #gateway: Gateway | undefined;

  constructor(journal: Journal, route: Route, testHeader: TestHeader) {
    this.#journal = journal;
    this.#route = route;
    this.#testHeader = testHeader;
  }

  /** Binds the address, of which the port may be 0 the first time; rejects when it is taken. */
  async open(): Promise<void> {
    const { record } = this.#journal;
    this.#gateway = await openGateway(record.port, this.#route, this.#testHeader);
    record.port = this.#gateway.port;
  }

  async #openWhenFree(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        return await this.open();
      } catch {
        this.#journal.repeated(`port ${this.#journal.record.port} of this machine is in use.`, 0);
        await delay(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  /** Binds the address now, or as soon as whoever has it lets it go; resolves after the first attempt. */
  async reopen(): Promise<void> {
    await Promise.race([this.#openWhenFree(), delay(retryMs / 2, undefined, { ref: false })]);
  }

  /** Takes no more requests; `how` says what becomes of those on their way. */
  async close(how: "finish" | "cut"): Promise<void> {
    this.#closing.abort();
    const closed = this.#gateway?.close(how === "cut");
    this.#gateway = undefined;
    if (how === "cut") await Promise.race([closed, delay(closeMsMax, undefined, { ref: false })]);
    else await closed;
  }
}
