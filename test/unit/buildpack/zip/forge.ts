import { crc32, deflateRawSync } from "node:zlib";

/** The numbers of a header; a malicious writer can set each of them. */
export interface HeaderFields {
  name: string | Buffer;
  version: number;
  flags: number;
  method: number;
  crc: number;
  compressedSize: number;
  size: number;
  extra: Buffer;
}

export interface CentralFields extends HeaderFields {
  madeBy: number;
  external: number;
  offset: number;
  disk: number;
  comment: Buffer;
}

/** The content of a forged archive; fields that are not set are correct. */
export interface ForgedEntry extends Partial<CentralFields> {
  name: string | Buffer;
  data?: string | Buffer;
  deflate?: boolean;
  /** The packed bytes to write instead of the correct ones. */
  packed?: Buffer;
  /** Wrong values in only one of the two headers. */
  local?: Partial<HeaderFields>;
  central?: Partial<CentralFields>;
  /** Written after the contents; "honest" writes the correct one. */
  descriptor?: Buffer | "honest" | "unsigned" | "wide" | "wide-unsigned";
  before?: Buffer;
  /** false: it is in the directory only, or in the file only. */
  written?: boolean;
  listed?: boolean;
}

export interface ForgedEnd {
  comment: string | Buffer;
  commentLength: number;
  prefix: Buffer;
  suffix: Buffer;
  beforeDirectory: Buffer;
  afterDirectory: Buffer;
  disk: number;
  directoryDisk: number;
  entriesHere: number;
  entries: number;
  directoryBytes: number;
  directoryOffset: number;
  zip64: Partial<ForgedZip64>;
}

export interface ForgedZip64 {
  recordBytes: number;
  entries: number;
  entriesHere: number;
  directoryBytes: number;
  directoryOffset: number;
  disk: number;
  extensible: Buffer;
  recordOffset: number;
  locator: boolean;
  disks: number;
  between: Buffer;
}

export const unixFile = { madeBy: 0x0314, external: 0o100644 * 0x10000 };
export const unixLink = { madeBy: 0x0314, external: 0o120777 * 0x10000 };

type Width = 2 | 4 | 8;

/** Little-endian numbers, as [value, width]. */
export function pack(...fields: readonly (readonly [number, Width])[]): Buffer {
  return Buffer.concat(
    fields.map(([value, width]) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt(value));
      return bytes.subarray(0, width);
    }),
  );
}

/** One additional field. */
export function extraField(id: number, content: Buffer): Buffer {
  return Buffer.concat([pack([id, 2], [content.length, 2]), content]);
}

/** Info-ZIP's second name. */
export function unicodePath(raw: string | Buffer, name: string, version = 1): Buffer {
  return extraField(
    0x7075,
    Buffer.concat([Buffer.from([version]), pack([crc32(Buffer.from(raw)), 4]), Buffer.from(name)]),
  );
}

function header(fields: HeaderFields): Buffer {
  const name = Buffer.from(fields.name);
  return Buffer.concat([
    pack([fields.version, 2], [fields.flags, 2], [fields.method, 2], [0, 2], [0x5821, 2], [fields.crc, 4]),
    pack([fields.compressedSize, 4], [fields.size, 4], [name.length, 2], [fields.extra.length, 2]),
  ]);
}

function honest(entry: ForgedEntry): { packed: Buffer; fields: HeaderFields } {
  const data = Buffer.from(entry.data ?? "");
  const packed = entry.packed ?? (entry.deflate ? deflateRawSync(data) : data);
  const method = entry.deflate ? 8 : 0;
  const flags = entry.descriptor === undefined ? 0 : 8;
  const sizes = { crc: crc32(data), compressedSize: packed.length, size: data.length };
  return { packed, fields: { version: 20, flags, method, ...sizes, extra: Buffer.alloc(0), ...entry } };
}

function descriptorOf(entry: ForgedEntry, { crc, compressedSize, size }: HeaderFields): Buffer {
  const signature = pack([0x08074b50, 4]);
  const wide = pack([crc, 4], [compressedSize, 8], [size, 8]);
  const narrow = pack([crc, 4], [compressedSize, 4], [size, 4]);
  switch (entry.descriptor) {
    case undefined:
      return Buffer.alloc(0);
    case "honest":
      return Buffer.concat([signature, narrow]);
    case "unsigned":
      return narrow;
    case "wide":
      return Buffer.concat([signature, wide]);
    case "wide-unsigned":
      return wide;
    default:
      return entry.descriptor;
  }
}

/** Writes an archive with the requested wrong values. */
export function forge(entries: readonly ForgedEntry[], end: Partial<ForgedEnd> = {}): Buffer {
  const parts: Buffer[] = [end.prefix ?? Buffer.alloc(0)];
  const rows: Buffer[] = [];
  const position = () => parts.reduce((sum, part) => sum + part.length, 0);
  for (const entry of entries) {
    const { packed, fields } = honest(entry);
    parts.push(entry.before ?? Buffer.alloc(0));
    const offset = position();
    if (entry.written !== false) {
      const streamed = entry.descriptor === undefined ? {} : { crc: 0, compressedSize: 0, size: 0 };
      const local = { ...fields, ...streamed, ...entry.local };
      parts.push(pack([0x04034b50, 4]), header(local), Buffer.from(local.name), local.extra, packed);
      parts.push(descriptorOf(entry, fields));
    }
    if (entry.listed !== false)
      rows.push(centralRow({ ...fields, ...entry.central }, { ...entry, ...entry.central }, offset));
  }
  parts.push(end.beforeDirectory ?? Buffer.alloc(0));
  const directoryOffset = position();
  parts.push(...rows);
  const directoryBytes = position() - directoryOffset;
  parts.push(end.afterDirectory ?? Buffer.alloc(0));
  const wide = { entries: rows.length, directoryBytes, directoryOffset };
  if (end.zip64) parts.push(zip64End(end.zip64, wide, position()));
  parts.push(endRecord(end, wide), end.suffix ?? Buffer.alloc(0));
  return Buffer.concat(parts);
}

function centralRow(fields: HeaderFields, entry: Partial<CentralFields>, offset: number): Buffer {
  const name = Buffer.from(fields.name);
  const comment = entry.comment ?? Buffer.alloc(0);
  return Buffer.concat([
    pack([0x02014b50, 4], [entry.madeBy ?? 20, 2]),
    header(fields),
    pack([comment.length, 2], [entry.disk ?? 0, 2], [0, 2], [entry.external ?? 0, 4], [entry.offset ?? offset, 4]),
    name,
    fields.extra,
    comment,
  ]);
}

interface Directory {
  entries: number;
  directoryBytes: number;
  directoryOffset: number;
}

function zip64End(lies: Partial<ForgedZip64>, directory: Directory, position: number): Buffer {
  const told = { ...directory, ...lies };
  const extensible = lies.extensible ?? Buffer.alloc(0);
  const here = lies.entriesHere ?? told.entries;
  const record = Buffer.concat([
    pack([0x06064b50, 4], [lies.recordBytes ?? 44 + extensible.length, 8], [45, 2], [45, 2]),
    pack(
      [lies.disk ?? 0, 4],
      [0, 4],
      [here, 8],
      [told.entries, 8],
      [told.directoryBytes, 8],
      [told.directoryOffset, 8],
    ),
    extensible,
    lies.between ?? Buffer.alloc(0),
  ]);
  if (lies.locator === false) return record;
  return Buffer.concat([
    record,
    pack([0x07064b50, 4], [0, 4], [lies.recordOffset ?? position, 8], [lies.disks ?? 1, 4]),
  ]);
}

/** An end record alone. */
export function endRecord(end: Partial<ForgedEnd>, directory: Directory): Buffer {
  const comment = Buffer.from(end.comment ?? "");
  const told = { ...directory, ...end };
  return Buffer.concat([
    pack([0x06054b50, 4], [end.disk ?? 0, 2], [end.directoryDisk ?? 0, 2]),
    pack([end.entriesHere ?? told.entries, 2], [told.entries, 2], [told.directoryBytes, 4], [told.directoryOffset, 4]),
    pack([end.commentLength ?? comment.length, 2]),
    comment,
  ]);
}

/** Very many files of the same few bytes, without zip64; `folder` stands in front of each name. */
export function manyFiles(count: number, folder = "", lies: Partial<ForgedEntry> = {}): Buffer {
  const digits = 6;
  const model = forge([{ data: "", ...lies, name: `${folder}${"0".repeat(digits)}` }]);
  const rowBytes = 46 + folder.length + digits;
  const fileBytes = model.length - rowBytes - 22;
  const files = Buffer.alloc(fileBytes * count, model.subarray(0, fileBytes));
  const rows = Buffer.alloc(rowBytes * count, model.subarray(fileBytes, fileBytes + rowBytes));
  for (let index = 0; index < count; index += 1) {
    const digitsOf = `${index}`.padStart(digits, "0");
    files.write(digitsOf, index * fileBytes + 30 + folder.length, "latin1");
    rows.write(digitsOf, index * rowBytes + 46 + folder.length, "latin1");
    rows.writeUInt32LE(index * fileBytes, index * rowBytes + 42);
  }
  const counted = { entries: count % 0x10000, directoryBytes: rows.length, directoryOffset: files.length };
  return Buffer.concat([files, rows, endRecord({}, counted)]);
}
