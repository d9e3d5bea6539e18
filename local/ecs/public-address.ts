import { setTimeout as delay } from "node:timers/promises";
import { portHolder } from "../process/listening.ts";
import { type Gateway, openGateway, type Route, type TestHeader } from "./gateway.ts";
import type { Journal } from "./journal.ts";

const retryMs = 1000;
const closeMsMax = 500;
/** A port that another program has kept for this long is given up. */
const takenMsMax = 10_000;

/** Where the ports of addresses come from, and who must know when one changes. */
export interface AddressBook {
  /** The port kept for a service, or another one that is free and kept from now on. */
  freePortFor(serviceName: string): Promise<number>;
  onMoved(serviceName: string, url: string): Promise<void>;
}

/** An address that had to change: the port that was taken, the program that has it, and the new port. */
export interface Move {
  from: number;
  holder: string;
  to: number;
}

/** The address of one service: its port is remembered in the record, so it stays the same while the port can be had. */
export class PublicAddress {
  readonly #journal: Journal;
  readonly #route: Route;
  readonly #testHeader: TestHeader;
  readonly #book: AddressBook;
  readonly #closing = new AbortController();
  #gateway: Gateway | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(journal: Journal, route: Route, testHeader: TestHeader, book: AddressBook) {
    this.#journal = journal;
    this.#route = route;
    this.#testHeader = testHeader;
    this.#book = book;
  }

  /** One attempt at a time; later ones see what an earlier one has opened. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }

  async #bind(): Promise<void> {
    if (this.#gateway || this.#closing.signal.aborted) return;
    const { record } = this.#journal;
    this.#gateway = await openGateway(record.port, this.#route, this.#testHeader);
    record.port = this.#gateway.port;
  }

  /** Takes another port; the move is in the record before it is announced, so that a crash does not lose it. */
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

  /** Tells a move that has not been told yet. */
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

  /** Binds the address, of which the port may be 0 the first time, unless it is bound; at another port when it is taken. */
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
    const late = performance.now() + takenMsMax;
    while (!signal.aborted) {
      try {
        await this.#inTurn(() => this.#bind());
        return await this.announce();
      } catch {
        const { port } = this.#journal.record;
        this.#journal.repeated(`port ${port} of this machine is in use by ${await portHolder(port)}.`, 0);
        if (performance.now() > late) await this.#inTurn(() => this.#move()).catch(() => undefined);
        else await delay(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  /** Binds the address now, or when the program that has its port lets it go, or elsewhere; resolves after the first attempt. */
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

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}
