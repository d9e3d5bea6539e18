import { createHash } from "node:crypto";
import { sha256Hex } from "../aws/signature/canonical.ts";
import { type ChunkSigner, sameSignature } from "../aws/signature/verify.ts";
import { S3Error } from "./errors.ts";

const lineLengthMax = 8192;
const trailersMax = 16;

/** Reads lines and runs of bytes from a stream of buffers. */
class ChunkReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async #next(): Promise<Buffer> {
    const { value, done } = await this.#source.next();
    if (done) throw new S3Error("IncompleteBody");
    return value;
  }

  async line(): Promise<string> {
    for (;;) {
      const end = this.#rest.indexOf("\r\n");
      if (end >= 0 && end <= lineLengthMax) {
        const text = this.#rest.toString("latin1", 0, end);
        this.#rest = this.#rest.subarray(end + 2);
        return text;
      }
      if (this.#rest.length > lineLengthMax) throw new S3Error("IncompleteBody");
      this.#rest = Buffer.concat([this.#rest, await this.#next()]);
    }
  }

  async *take(size: number): AsyncGenerator<Buffer> {
    for (let missing = size; missing > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const piece = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(piece.length);
      missing -= piece.length;
      yield piece;
    }
  }

  async expectEnd(): Promise<void> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#source.next();
      if (done) return;
      this.#rest = value;
    }
    throw new S3Error("IncompleteBody");
  }

  /** Releases the stream, so that its unread rest can be discarded. */
  async release(): Promise<void> {
    await this.#source.return?.();
  }
}

export interface ChunkedOptions {
  /** Set if every chunk is signed. */
  signer: ChunkSigner | undefined;
  hasTrailer: boolean;
  onTrailers: (trailers: ReadonlyMap<string, string>) => void;
}

/** Each signature covers the previous one, so chunks cannot be changed, removed or reordered. */
function signatureChain(signer: ChunkSigner) {
  let previous = signer.seedSignature;
  return (algorithm: string, lines: (previous: string) => string[], given: string | undefined) => {
    const expected = signer.sign(algorithm, lines(previous));
    if (!sameSignature(expected, given ?? "")) throw new S3Error("SignatureDoesNotMatch");
    previous = expected;
  };
}

async function readTrailers(reader: ChunkReader): Promise<Map<string, string>> {
  const trailers = new Map<string, string>();
  for (let line = await reader.line(); line !== ""; line = await reader.line()) {
    const at = line.indexOf(":");
    if (at < 1 || trailers.size >= trailersMax) throw new S3Error("MalformedTrailerError");
    trailers.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim());
  }
  return trailers;
}

/** Decodes an `aws-chunked` body; ends only after every signature and the chunk format have been checked. */
export async function* decodeAwsChunked(
  source: AsyncIterable<Buffer>,
  options: ChunkedOptions,
): AsyncGenerator<Buffer> {
  const reader = new ChunkReader(source);
  const check = options.signer && signatureChain(options.signer);
  try {
    for (let size = -1; size !== 0; ) {
      const header = /^([0-9a-fA-F]{1,10})(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(await reader.line());
      if (!header) throw new S3Error("IncompleteBody");
      size = Number.parseInt(header[1] ?? "", 16);
      const hash = check && createHash("sha256");
      for await (const piece of reader.take(size)) {
        hash?.update(piece);
        yield piece;
      }
      const digest = hash?.digest("hex") ?? "";
      check?.("AWS4-HMAC-SHA256-PAYLOAD", (previous) => [previous, sha256Hex(""), digest], header[2]);
      if (size > 0 && (await reader.line()) !== "") throw new S3Error("IncompleteBody");
    }
    const trailers = await readTrailers(reader);
    await reader.expectEnd();
    if (!options.hasTrailer && trailers.size > 0) throw new S3Error("MalformedTrailerError");
    const given = trailers.get("x-amz-trailer-signature");
    trailers.delete("x-amz-trailer-signature");
    if (options.hasTrailer && check) {
      const text = [...trailers].map(([name, value]) => `${name}:${value}\n`).join("");
      check("AWS4-HMAC-SHA256-TRAILER", (previous) => [previous, sha256Hex(text)], given);
    }
    options.onTrailers(trailers);
  } finally {
    await reader.release();
  }
}
