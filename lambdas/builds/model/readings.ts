import type { Range } from "./automaton.ts";

/** A decoded text, and the place of its characters in the original. */
export interface Reading {
  text: string;
  /** The part of the original from which a part of `text` was decoded. */
  original(range: Range): Range;
}

interface Escaping {
  pattern: RegExp;
  meaning(written: string): string;
}

/** The escapes of JSON, and those that Node.js and Python add when they print a string. */
const backslash: Escaping = {
  pattern: /\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|[^ux])/gi,
  meaning: (written) => {
    const letter = written[1] ?? "";
    if (written.length > 2) return String.fromCharCode(Number.parseInt(written.slice(2), 16));
    return controls[letter] ?? letter;
  },
};
const controls: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** One character in percent-encoded UTF-8. */
const encoded =
  "%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3}";
const percent: Escaping = { pattern: new RegExp(encoded, "gi"), meaning: decoded };
/** In forms and queries a plus sign is a space. */
const form: Escaping = {
  pattern: new RegExp(`${encoded}|\\+`, "gi"),
  meaning: (written) => (written === "+" ? " " : decoded(written)),
};

function decoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

/** Loggers nest JSON at most three levels deep. */
const backslashLevelsMax = 3;

/** A text as it is, and with its JSON or URL escapes replaced. */
export function readingsOf(text: string): Reading[] {
  const plain: Reading = { text, original: (range) => range };
  const readings = [plain];
  let deepest = plain;
  for (let level = 0; level < backslashLevelsMax && deepest.text.includes("\\"); level += 1) {
    deepest = unescaped(deepest, backslash);
    readings.push(deepest);
  }
  if (text.includes("%")) readings.push(unescaped(plain, percent));
  if (text.includes("+")) readings.push(unescaped(plain, form));
  return readings;
}

function unescaped(reading: Reading, { pattern, meaning }: Escaping): Reading {
  let text = "";
  let at = 0;
  /** The offset after each escape, and how many characters more the original has up to there. */
  const behind = [0];
  const further = [0];
  for (const { 0: written, index } of reading.text.matchAll(pattern)) {
    text += reading.text.slice(at, index) + meaning(written);
    at = index + written.length;
    behind.push(text.length);
    further.push(at - text.length);
  }
  text += reading.text.slice(at);
  const original = (offset: number) => offset + (further[lastUpTo(behind, offset)] ?? 0);
  return { text, original: ({ from, to }) => reading.original({ from: original(from), to: original(to) }) };
}

/** The index of the last number that is at most `limit`; the numbers ascend from 0. */
function lastUpTo(numbers: readonly number[], limit: number): number {
  let last = 0;
  for (let end = numbers.length; end - last > 1; ) {
    const middle = (last + end) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) last = middle;
    else end = middle;
  }
  return last;
}
