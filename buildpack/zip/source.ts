import { ArchiveRefused } from "./refused.ts";

/** Where the bytes of an archive come from; `read` answers exactly the bytes asked for, and may be called in parallel. */
export interface ByteSource {
  readonly size: number;
  read(offset: number, length: number): Promise<Uint8Array>;
}

const MiB = 1024 * 1024;
const wholeBytesMax = 8 * MiB;
const tailBytes = 1 * MiB;

/** Reads a range; fewer bytes than asked for mean that the archive is shorter than its source said. */
export async function readExactly(source: ByteSource, offset: number, length: number): Promise<Buffer> {
  // A bucket cannot answer an empty range.
  if (length === 0) return Buffer.alloc(0);
  const bytes = await source.read(offset, length);
  if (bytes.length !== length) throw new ArchiveRefused("truncated");
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** A source whose end, or the whole of it when it is small, has been read already. */
export interface TailedSource extends ByteSource {
  readonly tail: Buffer;
  readonly tailOffset: number;
}

/** One read brings the end record, nearly always the directory too, and the whole of an archive up to 8 MiB. */
export async function readTail(source: ByteSource): Promise<TailedSource> {
  const tailOffset = source.size <= wholeBytesMax ? 0 : source.size - tailBytes;
  const tail = await readExactly(source, tailOffset, source.size - tailOffset);
  const read = async (offset: number, length: number) =>
    offset >= tailOffset
      ? tail.subarray(offset - tailOffset, offset - tailOffset + length)
      : source.read(offset, length);
  return { size: source.size, read, tail, tailOffset };
}
