import { isUtf8 } from "node:buffer";
import { crc32 } from "node:zlib";
import { decodeCodePage437 } from "./code-page-437.ts";
import type { ArchiveLimits } from "./limits.ts";
import { ArchiveRefused } from "./refused.ts";

const ascii = /^[\0-\x7f]*$/;

/** The name as text: UTF-8 if it is marked or valid as such, otherwise code page 437. */
export function decodeName(bytes: Buffer, start: number, end: number, saysUtf8: boolean): string {
  const narrow = bytes.toString("latin1", start, end);
  if (ascii.test(narrow)) return narrow;
  const raw = bytes.subarray(start, end);
  if (isUtf8(raw)) return raw.toString("utf8");
  const text = decodeCodePage437(raw);
  if (saysUtf8) throw new ArchiveRefused("bad_name", text, "it is not valid UTF-8");
  // Info-ZIP drops this byte and would read another name.
  if (raw.includes(0xff))
    throw new ArchiveRefused("bad_name", text, "it contains a byte that is not valid in any supported encoding");
  return text;
}

const notAscii = /[^\p{ASCII}]+/gu;

/**
 * Some programs use Info-ZIP's second name (0x7075) instead of the first, others do not, so both must be equal. If the first
 * is in an unknown code page, only its ASCII characters can be compared.
 */
export function unicodeName(field: Buffer, raw: Buffer, name: string): string {
  const second = field.subarray(5);
  if (field.length < 6 || field[0] !== 1 || field.readUInt32LE(1) !== crc32(raw) || !isUtf8(second)) {
    throw new ArchiveRefused("bad_extra_field", name, "its second name is not valid");
  }
  const text = second.toString("utf8");
  const legacy = !isUtf8(raw);
  const same = legacy ? text.replace(notAscii, "*") === name.replace(notAscii, "*") : text === name;
  if (!same) throw new ArchiveRefused("bad_extra_field", name, "it has two different names");
  return text;
}

/** Matches nearly every name. Such a name follows all rules below except, possibly, the maximum length of a part. */
const harmless = /^(?:[\w@+-][\w@+.-]*\/)*[\w@+-][\w@+.-]*$/;
const unprintable = /[\p{Cc}\p{Cs}]/u;
const upwards = /(?:^|\/)\.\.[. ]*(?:\/|$)/;
const needless = /(?:^|\/)\.?(?:\/|$)/;
const longPart = /[^/]{64}/;

/** The path of a name, and whether the name is that of a folder (it ends in a separator). */
export function entryPath(name: string, limits: ArchiveLimits): { path: string; folder: boolean } {
  const slashed = name.replaceAll("\\", "/");
  const folder = slashed.endsWith("/");
  const inner = folder ? slashed.slice(0, -1) : slashed;
  if (!harmless.test(inner)) checkName(name, slashed);
  if (
    inner.length >= 64 &&
    longPart.test(inner) &&
    inner.split("/").some((part) => Buffer.byteLength(part) > limits.segmentBytesMax)
  ) {
    throw new ArchiveRefused("name_too_long", name, `a part of it is over ${limits.segmentBytesMax} bytes`);
  }
  if (!needless.test(inner)) return { path: inner, folder };
  const kept = inner.split("/").filter((part) => part !== "" && part !== ".");
  return { path: kept.length === 0 ? "." : kept.join("/"), folder };
}

function checkName(name: string, slashed: string): void {
  if (name === "") throw new ArchiveRefused("bad_name", name, "it is empty");
  if (unprintable.test(name)) throw new ArchiveRefused("bad_name", name, "it holds control characters");
  if (slashed.startsWith("/") || /^[A-Za-z]:/.test(slashed)) throw new ArchiveRefused("absolute_path", name);
  if (upwards.test(slashed)) throw new ArchiveRefused("path_escape", name);
  if (slashed === "." || slashed.endsWith("/.")) throw new ArchiveRefused("bad_name", name, "it ends in a dot");
  // unzip treats ";1" as a VMS version number and removes it.
  if (/;\d*$/.test(slashed)) throw new ArchiveRefused("bad_name", name, "it ends in a semicolon and a number");
}
