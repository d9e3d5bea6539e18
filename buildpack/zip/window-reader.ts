import { type ByteSource, readExactly } from "./source.ts";

const windowBytes = 4 * 1024 * 1024;
const windowsAhead = 3;

/** Reads a source from its start in large windows, several at the same time, and keeps no other data in memory. */
export class WindowReader {
  readonly #source: ByteSource;
  readonly #end: number;
  readonly #ahead: Promise<Buffer>[] = [];
  #nextOffset = 0;
  #window: Buffer = Buffer.alloc(0);
  #position = 0;

  constructor(source: ByteSource, end: number) {
    this.#source = source;
    this.#end = end;
    this.#request();
  }

  /** The next bytes without a copy if the current window contains them; otherwise null, and nothing is consumed. */
  view(length: number): Buffer | null {
    const end = this.#position + length;
    if (end > this.#window.length) return null;
    const bytes = this.#window.subarray(this.#position, end);
    this.#position = end;
    return bytes;
  }

  /** The next bytes; the caller must know that so many are left. */
  async take(length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    for (let filled = 0; filled < length; ) filled += (await this.piece(length - filled)).copy(bytes, filled);
    return bytes;
  }

  /** At least one and at most `lengthMax` of the next bytes, without a copy. */
  async piece(lengthMax: number): Promise<Buffer> {
    if (this.#position === this.#window.length) await this.#advance();
    const length = Math.min(lengthMax, this.#window.length - this.#position);
    const bytes = this.#window.subarray(this.#position, this.#position + length);
    this.#position += length;
    return bytes;
  }

  /** Waits until no read is running, so that the source can be closed. */
  async close(): Promise<void> {
    this.#nextOffset = this.#end;
    await Promise.allSettled(this.#ahead);
  }

  async #advance(): Promise<void> {
    const next = this.#ahead.shift();
    if (next === undefined) throw new RangeError("read past the end of the files");
    release(this.#window);
    this.#window = await next;
    this.#position = 0;
    this.#request();
  }

  #request(): void {
    while (this.#ahead.length < windowsAhead && this.#nextOffset < this.#end) {
      const length = Math.min(windowBytes, this.#end - this.#nextOffset);
      const window = readExactly(this.#source, this.#nextOffset, length);
      // It is awaited later, or never if the archive is refused first; this prevents an unhandled rejection.
      window.catch(() => {});
      this.#ahead.push(window);
      this.#nextOffset += length;
    }
  }
}

/** Frees the memory of a window at once if nothing else is in it, instead of waiting for the garbage collector. */
function release(window: Buffer): void {
  const { buffer } = window;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === window.byteLength) buffer.transfer(0);
}
