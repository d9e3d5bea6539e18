import { ArchiveRefused } from "./refused.ts";

/** The source of an archive's bytes; `read` returns exactly the requested bytes, and may be called concurrently. */
export interface ByteSource {
  readonly size: number;
  read(offset: number, length: number): Promise<Uint8Array>;
}

const MiB = 1024 * 1024;
const wholeBytesMax = 8 * MiB;
const tailBytes = 1 * MiB;

/** Reads a range; throws if there are fewer bytes, because then the archive is shorter than its source said. */
export async function readExactly(source: ByteSource, offset: number, length: number): Promise<Buffer> {
  // S3 cannot return an empty range.
  if (length === 0) return Buffer.alloc(0);
  const bytes = await source.read(offset, length);
  if (bytes.length !== length) throw new ArchiveRefused("truncated");
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** A source whose end has been read already, or all of it if it is small. */
export interface TailedSource extends ByteSource {
  readonly tail: Buffer;
  readonly tailOffset: number;
}

/** One read gets the end record, nearly always the directory too, and all of an archive of up to 8 MiB. */
export async function readTail(source: ByteSource): Promise<TailedSource> {
  const tailOffset = source.size <= wholeBytesMax ? 0 : source.size - tailBytes;
  const tail = await readExactly(source, tailOffset, source.size - tailOffset);
  const read = async (offset: number, length: number) =>
    offset >= tailOffset
      ? tail.subarray(offset - tailOffset, offset - tailOffset + length)
      : source.read(offset, length);
  return { size: source.size, read, tail, tailOffset };
}
