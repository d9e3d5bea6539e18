import { stripVTControlCharacters } from "node:util";

/** Untrusted text (app output, file names) on one line, without terminal control sequences. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/(?!\t)[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, "�");
}

/** 1234567 → "1.2 MB". */
export function bytesText(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return unit === 0 ? `${bytes} ${bytes === 1 ? "byte" : "bytes"}` : `${value.toFixed(1)} ${units[unit]}`;
}
