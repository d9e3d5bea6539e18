import { crc32, createInflateRaw, inflateRawSync } from "node:zlib";
import type { StoredEntry } from "./entry.ts";
import { ArchiveRefused } from "./refused.ts";

/** Turns zlib's errors about the data into refusals; other errors are returned unchanged. */
function asRefusal(error: unknown, entry: StoredEntry): unknown {
  const code = String(Reflect.get(Object(error), "code"));
  if (code === "ERR_BUFFER_TOO_LARGE") return new ArchiveRefused("size_mismatch", entry.path);
  return code.startsWith("Z_") ? new ArchiveRefused("bad_data", entry.path) : error;
}

/** The result of inflateRawSync with `info: true`, which its declared type does not cover. */
interface Inflated {
  buffer: Buffer;
  engine: { bytesWritten: number };
}

function inflate(packed: Buffer, entry: StoredEntry): Buffer {
  const chunkSize = Math.max(64, entry.size + 1);
  const options = { info: true, chunkSize, maxOutputLength: Math.max(1, entry.size) };
  try {
    const { buffer, engine }: Inflated = Object(inflateRawSync(packed, options));
    if (engine.bytesWritten !== packed.length) throw new ArchiveRefused("size_mismatch", entry.path);
    return buffer;
  } catch (error) {
    throw asRefusal(error, entry);
  }
}

/** A folder that is marked as deflated may have no contents at all: old .NET and Java write such entries. */
function isEmptyFolder(entry: StoredEntry): boolean {
  return entry.kind === "directory" && entry.compressedSize === 0;
}

/** Unpacks contents and checks their size and checksum; contents that are stored are returned without a copy. */
export function unpack(packed: Buffer, entry: StoredEntry): Buffer {
  const bytes = entry.deflated && !isEmptyFolder(entry) ? inflate(packed, entry) : packed;
  if (bytes.length !== entry.size) throw new ArchiveRefused("size_mismatch", entry.path);
  if (crc32(bytes) !== entry.crc32) throw new ArchiveRefused("crc_mismatch", entry.path);
  return bytes;
}

/** Receives large contents in pieces; a piece is valid only during the call. */
export type PieceSink = (piece: Uint8Array) => void;

/** Counts the bytes of the pieces and computes their checksum; throws if there are too many bytes. */
class ChecksumCounter {
  readonly #entry: StoredEntry;
  readonly #sink: PieceSink | null;
  #size = 0;
  #crc = 0;

  constructor(entry: StoredEntry, sink: PieceSink | null) {
    this.#entry = entry;
    this.#sink = sink;
  }

  add(piece: Uint8Array): void {
    this.#size += piece.length;
    if (this.#size > this.#entry.size) throw new ArchiveRefused("size_mismatch", this.#entry.path);
    this.#crc = crc32(piece, this.#crc);
    this.#sink?.(piece);
  }

  finish(): void {
    if (this.#size !== this.#entry.size) throw new ArchiveRefused("size_mismatch", this.#entry.path);
    if (this.#crc !== this.#entry.crc32) throw new ArchiveRefused("crc_mismatch", this.#entry.path);
  }
}

/** `unpack` for contents of any size with limited memory; `pieces` are exactly the packed bytes. */
export async function unpackLarge(
  pieces: AsyncIterable<Buffer>,
  entry: StoredEntry,
  sink: PieceSink | null,
): Promise<void> {
  const counter = new ChecksumCounter(entry, sink);
  if (entry.deflated) await inflatePieces(pieces, entry, counter);
  else for await (const piece of pieces) counter.add(piece);
  counter.finish();
}

async function inflatePieces(
  pieces: AsyncIterable<Buffer>,
  entry: StoredEntry,
  counter: ChecksumCounter,
): Promise<void> {
  const inflater = createInflateRaw({ chunkSize: 256 * 1024 });
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  inflater.once("end", resolve);
  inflater.once("error", reject);
  inflater.on("data", (piece: Buffer) => {
    try {
      counter.add(piece);
    } catch (error) {
      inflater.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
  ended.catch(() => {});
  try {
    for await (const piece of pieces) {
      // If input is left after the end of the stream, zlib never reports the write as done, so the end is awaited too.
      await Promise.race([new Promise((written) => inflater.write(piece, written)), ended]);
      if (inflater.readableEnded) break;
    }
    inflater.end();
    await ended;
    if (inflater.bytesWritten !== entry.compressedSize) throw new ArchiveRefused("size_mismatch", entry.path);
  } catch (error) {
    throw asRefusal(error, entry);
  } finally {
    inflater.destroy();
  }
}
