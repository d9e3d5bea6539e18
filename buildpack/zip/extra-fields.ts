import { ArchiveRefused } from "./refused.ts";

/** The extra fields that change how an entry is read; the others only add data such as dates and owners. */
export interface ExtraFields {
  zip64: Buffer | null;
  unicodePath: Buffer | null;
}

const none: ExtraFields = { zip64: null, unicodePath: null };

/** Parses the extra fields from `start` to `blockEnd`; `name` is for the error. */
export function readExtraFields(bytes: Buffer, start: number, blockEnd: number, name: string): ExtraFields {
  let found = none;
  let at = start;
  while (at + 4 <= blockEnd) {
    const id = bytes.readUInt16LE(at);
    const end = at + 4 + bytes.readUInt16LE(at + 2);
    if (end > blockEnd) throw new ArchiveRefused("bad_extra_field", name);
    if (id === 0x9901 || id === 0x0017) throw new ArchiveRefused("encrypted", name);
    if (id === 0x0001 || id === 0x7075) {
      const key = id === 0x0001 ? "zip64" : "unicodePath";
      if (found[key] !== null) throw new ArchiveRefused("bad_extra_field", name, "one of them occurs twice");
      found = { ...found, [key]: bytes.subarray(at + 4, end) };
    }
    at = end;
  }
  // Writers that align file contents leave up to three zeros here.
  for (; at < blockEnd; at += 1) if (bytes[at] !== 0) throw new ArchiveRefused("bad_extra_field", name);
  return found;
}

const inZip64 = 0xffffffff;
const layout = [
  ["size", 8],
  ["compressedSize", 8],
  ["offset", 8],
  ["disk", 4],
] as const;

/** The numbers of a header that zip64 can replace; `offset` and `disk` are in the directory only. */
export interface WideNumbers {
  size: number;
  compressedSize: number;
  offset: number;
  disk: number;
}

/**
 * Replaces the numbers that refer to zip64. The field may contain only these, or all of them. If it contains all, some readers
 * find a number by its position and others by its order, so both ways must give the same number.
 */
export function widen(stated: WideNumbers, field: Buffer | null, name: string): WideNumbers {
  const isWide = (key: keyof WideNumbers) => stated[key] === (key === "disk" ? 0xffff : inZip64);
  const wide = layout.filter(([key]) => isWide(key));
  if (wide.length === 0 && field === null) return stated;
  const contradiction = () => new ArchiveRefused("bad_extra_field", name, "its zip64 sizes contradict its other sizes");
  if (field === null) throw contradiction();
  const numbers = { ...stated };
  let at = 0;
  for (const [key, bytes] of wide) {
    if (at + bytes > field.length) throw contradiction();
    numbers[key] = bytes === 8 ? Number(field.readBigUInt64LE(at)) : field.readUInt32LE(at);
    at += bytes;
  }
  if (at === field.length) return numbers;
  let position = 0;
  for (const [key, bytes] of layout) {
    if (position === field.length) return numbers;
    if (position + bytes > field.length) throw contradiction();
    const value = bytes === 8 ? Number(field.readBigUInt64LE(position)) : field.readUInt32LE(position);
    if (value !== numbers[key]) throw contradiction();
    position += bytes;
  }
  if (position !== field.length) throw contradiction();
  return numbers;
}
