/** A file of an archive; `path` has slashes between its parts. */
export interface Packable {
  path: string;
  file: Blob & { lastModified?: number };
}

const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Fields of a zip record: each a number with its bytes, little-endian. */
function record(fields: readonly (readonly [value: number, bytes: 2 | 4])[]): Uint8Array<ArrayBuffer> {
  const out = new DataView(new ArrayBuffer(fields.reduce((sum, [, bytes]) => sum + bytes, 0)));
  let at = 0;
  for (const [value, bytes] of fields) {
    if (bytes === 2) out.setUint16(at, value, true);
    else out.setUint32(at, value, true);
    at += bytes;
  }
  return new Uint8Array(out.buffer);
}

/** MS-DOS time and date, which begin with 1980. */
function dosTime(ms: number): [time: number, date: number] {
  const at = new Date(Math.max(ms, Date.UTC(1980, 0, 2)));
  const time = (at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1);
  return [time, ((at.getFullYear() - 1980) << 9) | ((at.getMonth() + 1) << 5) | at.getDate()];
}

async function deflate(bytes: Blob): Promise<Blob> {
  return new Response(bytes.stream().pipeThrough(new CompressionStream("deflate-raw"))).blob();
}

/** Programs that begin with `#!` stay executable: browsers do not know the permissions of files. */
function modeOf(bytes: Uint8Array): number {
  return bytes[0] === 0x23 && bytes[1] === 0x21 ? 0o100755 : 0o100644;
}

/** Writes a zip with names in UTF-8; `onFile` is called after each file. Rejects with the signal's reason. */
export async function zip(
  files: readonly Packable[],
  { onFile, signal }: { onFile?: (count: number) => void; signal?: AbortSignal } = {},
): Promise<Blob> {
  const parts: BlobPart[] = [];
  const directory: BlobPart[] = [];
  let offset = 0;
  let directoryBytes = 0;
  for (const [index, { path, file }] of files.entries()) {
    signal?.throwIfAborted();
    const bytes = new Uint8Array(await file.arrayBuffer());
    const name = new TextEncoder().encode(path);
    const packed = await deflate(new Blob([bytes]));
    const isSmaller = packed.size < bytes.length;
    const [time, date] = dosTime(file.lastModified ?? 0);
    const shared = [
      [20, 2],
      [0x0800, 2],
      [isSmaller ? 8 : 0, 2],
      [time, 2],
      [date, 2],
      [crc32(bytes), 4],
      [isSmaller ? packed.size : bytes.length, 4],
      [bytes.length, 4],
      [name.length, 2],
      [0, 2],
    ] as const;
    const local = record([[0x04034b50, 4], ...shared]);
    parts.push(local, name, isSmaller ? packed : bytes);
    const [needed, ...rest] = shared;
    const central = record([
      [0x02014b50, 4],
      // Made on Unix, so that the permissions below count.
      [0x0314, 2],
      needed,
      ...rest,
      [0, 2],
      [0, 2],
      [0, 2],
      [(modeOf(bytes) << 16) >>> 0, 4],
      [offset, 4],
    ]);
    directory.push(central, name);
    directoryBytes += central.length + name.length;
    offset += local.length + name.length + (isSmaller ? packed.size : bytes.length);
    onFile?.(index + 1);
  }
  const end = record([
    [0x06054b50, 4],
    [0, 2],
    [0, 2],
    [files.length, 2],
    [files.length, 2],
    [directoryBytes, 4],
    [offset, 4],
    [0, 2],
  ]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}
