const newline = 10;
const carriageReturn = 13;
const lineBytesMax = 16 * 1024;

/** The last index at or before `end` that does not split a UTF-8 character. */
function characterBoundary(bytes: Buffer, end: number): number {
  let at = end;
  while (at > end - 4 && at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}

/** Splits output into lines; as the awslogs driver does, it splits a line longer than 16 KiB into several. */
export function createLineCutter(onLine: (line: string) => void): { write(chunk: Buffer): void; end(): void } {
  let rest: Buffer = Buffer.alloc(0);
  const emit = (bytes: Buffer) => {
    const end = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
    onLine(bytes.toString("utf8", 0, end));
  };
  return {
    write(chunk) {
      let bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      for (;;) {
        const end = bytes.indexOf(newline);
        if (end !== -1 && end <= lineBytesMax) {
          emit(bytes.subarray(0, end));
          bytes = bytes.subarray(end + 1);
        } else if (bytes.length > lineBytesMax) {
          const cut = characterBoundary(bytes, lineBytesMax);
          emit(bytes.subarray(0, cut));
          bytes = bytes.subarray(cut);
        } else break;
      }
      rest = Buffer.from(bytes);
    },
    end() {
      if (rest.length > 0) emit(rest);
      rest = Buffer.alloc(0);
    },
  };
}
