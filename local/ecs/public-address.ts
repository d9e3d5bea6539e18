import { setTimeout as delay } from "node:timers/promises";
import { portHolder } from "../process/listening.ts";
import { type Gateway, openGateway, type Served } from "./gateway.ts";
import type { Journal } from "./journal.ts";

const retryMs = 1000;
const closeMsMax = 500;

/** Chooses the ports of public addresses and announces changes. */
export interface AddressBook {
  /** The port that is reserved for a service, or else a free port that is then reserved for it. */
  freePortFor(serviceName: string): Promise<number>;
  onMoved(serviceName: string, url: string): Promise<void>;
  /** After this time a port that another program uses is given up and another one is chosen. */
  portTakenMs: number;
}

/** A changed address: the port that is in use, the program that uses it, and the new port. */
export interface Move {
  from: number;
  holder: string;
  to: number;
}

/** The public address of one service. Its port is saved in the record and changes only if another program uses it. */
export class PublicAddress {
  readonly #journal: Journal;
  readonly #served: Served;
  readonly #book: AddressBook;
  readonly #closing = new AbortController();
  #gateway: Gateway | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(journal: Journal, book: AddressBook, served: Served) {
    this.#journal = journal;
    this.#served = served;
    this.#book = book;
  }

  /** Runs one attempt at a time, so that a later attempt sees the gateway of an earlier one. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }

  async #bind(): Promise<void> {
    if (this.#gateway || this.#closing.signal.aborted) return;
    const { record } = this.#journal;
    this.#gateway = await openGateway(record.port, this.#served);
    record.port = this.#gateway.port;
  }

  /** Changes to another port. The change is saved before it is announced, so that a crash does not lose it. */
  async #move(): Promise<Move | undefined> {
    if (this.#gateway || this.#closing.signal.aborted) return undefined;
    const { record } = this.#journal;
    const from = record.port;
    const holder = await portHolder(from);
    record.port = await this.#book.freePortFor(record.name);
    await this.#bind();
    record.hasMoved = true;
    await this.#journal.save();
    this.#journal.event(
      `port ${from} of this machine is in use by ${holder}; port ${record.port} is used from now on.`,
    );
    await this.announce();
    return { from, holder, to: record.port };
  }

  /** Announces a changed port that has not been announced yet. */
  async announce(): Promise<void> {
    const { record } = this.#journal;
    if (!record.hasMoved) return;
    try {
      await this.#book.onMoved(record.name, `http://127.0.0.1:${record.port}`);
      delete record.hasMoved;
      await this.#journal.save();
    } catch (error) {
      this.#journal.event(`was unable to announce its new address: ${String(error)}`);
    }
  }

  /** Binds the address if it is not bound yet (port 0: any port); changes to another port if its port is in use. */
  open(): Promise<Move | undefined> {
    return this.#inTurn(async () => {
      try {
        await this.#bind();
        return undefined;
      } catch (error) {
        if (!isTaken(error)) throw error;
        return this.#move();
      }
    });
  }

  async #openWhenFree(): Promise<void> {
    const { signal } = this.#closing;
    const deadline = performance.now() + this.#book.portTakenMs;
    while (!signal.aborted) {
      try {
        await this.#inTurn(() => this.#bind());
        return await this.announce();
      } catch {
        const { port } = this.#journal.record;
        this.#journal.repeated(`port ${port} of this machine is in use by ${await portHolder(port)}.`, 0);
        if (performance.now() > deadline) await this.#inTurn(() => this.#move()).catch(() => undefined);
        else await delay(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  /**
   * Binds the address. While another program uses the port, it retries in the background and finally changes the port.
   * Resolves after the first attempt.
   */
  async reopen(): Promise<void> {
    await Promise.race([this.#openWhenFree(), delay(retryMs / 2, undefined, { ref: false })]);
  }

  /** Stops listening; the requests in flight finish or are cut off. */
  async close(how: "finish" | "cut"): Promise<void> {
    this.#closing.abort();
    const closed = this.#gateway?.close(how === "cut");
    this.#gateway = undefined;
    if (how === "cut") await Promise.race([closed, delay(closeMsMax, undefined, { ref: false })]);
    else await closed;
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}
