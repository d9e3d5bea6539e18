import { describe, expect, test } from "vitest";
import { Automaton } from "../../../../lambdas/builds/model/automaton.ts";
import { masker } from "../../../../lambdas/builds/model/mask.ts";
import { readingsOf } from "../../../../lambdas/builds/model/readings.ts";
import { fc } from "../../../harness/fast-check.ts";

const key = "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG9w0\r\n  Zm9yIHRlc3RzIG9ubHk=\nshort\n-----END KEY-----\n";
const odd = 'a "quoted" \\ path\tend';
const accented = "pässwörd für 日本 🔑";

test.each<[string, string[], string, string]>([
  ["a value wherever it stands", ["s3cret-value"], "x=s3cret-value, s3cret-value.", "x=[masked], [masked]."],
  ["a value of six characters", ["abcdef"], "abcdef abcde", "[masked] abcde"],
  ["no shorter one", ["abcde"], "abcde", "abcde"],
  [
    "the longest of values that contain one another",
    ["abcdef", "abcdef-more", "def-mo"],
    "abcdef-more abcdef",
    "[masked] [masked]",
  ],
  ["a value that ends with another", ["a-long-value", "long-value"], "a-long-value", "[masked]"],
  ["a value in the middle of another", ["-long-", "a-long-value"], "a-long-value a-long-", "[masked] a[masked]"],
  ["values that overlap, as one", ["abcdef", "defghi", "hijklm"], "abcdefghijklm!", "[masked]!"],
  ["a value that overlaps itself", ["abcabc"], "abcabcabcabc.", "[masked]."],
  ["values side by side", ["abcdef", "ghijkl"], "abcdefghijkl", "[masked][masked]"],
  [
    "a value that begins like a longer one that is not there",
    ["abcdefgh", "cdefxx", "efxxyy"],
    "abcdefxxyy",
    "ab[masked]",
  ],
  [
    "each line of a value with several lines",
    [key],
    "1 MIIBVgIBADANBgkqhkiG9w0 Zm9yIHRlc3RzIG9ubHk= 2",
    "1 [masked] [masked] 2",
  ],
  ["no line of it that is short", [key], "a short line", "a short line"],
  ["all of it, where its line ends are escaped", [key], `{"key":${JSON.stringify(key)}}`, '{"key":"[masked]"}'],
  ["a value with the space around it that makes it six characters", [" abcd "], "x abcd y abcd", "x[masked]y abcd"],
  ["a value without the space around it", ["  s3cret-value\n"], "s3cret-value", "[masked]"],
  [
    "no value that says nothing",
    ["production", "development", "false", "12345678"],
    "production 12345678",
    "production 12345678",
  ],
  ["a value that only holds such a word", ["production1", "123456789"], "production1 123456789", "[masked] [masked]"],
  ["no space around a word that says nothing", ["production   "], "production   x", "production   x"],
  ["no value of space alone", ["        "], "a        b", "a        b"],
  ["short lines where they stand as one", ["ab\ncd\tef\rg  "], '{"v":"ab\\ncd\\tef\\rg"}', '{"v":"[masked]"}'],
  ["a value beside what is no UTF-8", ["s3cret value"], "GET /%c0%80/s3cret%20value", "GET /%c0%80/[masked]"],
  ["a value that holds what is no UTF-8", ["%c0%80 value"], "GET /%c0%80%20value", "GET /[masked]"],
  ["a value as JSON", [odd], `{"v":${JSON.stringify(odd)}}`, '{"v":"[masked]"}'],
  ["a value with all escapes of JSON", ["a\bb\fc\rd"], '{"v":"a\\bb\\fc\\rd"}', '{"v":"[masked]"}'],
  ["a value as JSON in JSON", [odd], JSON.stringify(JSON.stringify({ v: odd })), '"{\\"v\\":\\"[masked]\\"}"'],
  [
    "a value as JSON in ASCII",
    [accented],
    '"p\\u00e4ssw\\u00f6rd f\\u00fcr \\u65e5\\u672c \\ud83d\\udd11"',
    '"[masked]"',
  ],
  ["a value as Python prints it", ["it's \u001b here\n"], "KeyError: 'it\\'s \\x1b here\\n'", "KeyError: '[masked]'"],
  ["a value in a URL", [accented], `GET /?q=${encodeURIComponent(accented)}&r=1`, "GET /?q=[masked]&r=1"],
  ["a value in a URL with lower-case digits", ["a/b?c=d&e"], "GET /a%2fb%3fc%3dd%26e/x", "GET /[masked]/x"],
  ["a value in a URL that escapes less", ["a/b c=d&e"], "GET /a/b%20c=d%26e", "GET /[masked]"],
  ["a value in a form", [odd], `v=${new URLSearchParams({ v: odd }).toString().slice(2)}&w=+`, "v=[masked]&w=+"],
  [
    "a value with plus signs in a URL",
    ["ab+cd/ef=="],
    "/ab+cd%2Fef%3D%3D /ab%2Bcd%2Fef%3D%3D ab+cd/ef==",
    "/[masked] /[masked] [masked]",
  ],
  [
    "a value behind percent signs and backslashes that escape nothing",
    ["s3cret-value"],
    "100%%s3cret-value% \\s3cret-value\\",
    "100%%[masked]% [masked]\\",
  ],
  ["nothing of an empty value", ["", "   ", "\n\n"], "  \n", "  \n"],
  [
    "the shape of a secret that is no variable",
    [],
    "AKIAABCDEFGHIJKLMNOP postgres://me:hunter2@db/x",
    "[masked] postgres://me:[masked]@db/x",
  ],
])("masks %s", (_, values, line, masked) => {
  expect(masker(values)(line)).toBe(masked);
});

describe("against a search for one value after the other", () => {
  /** Which characters belong to an occurrence of any value. */
  function hiddenIn(values: readonly string[], line: string): boolean[] {
    const hidden = new Array<boolean>(line.length).fill(false);
    for (const value of values) {
      for (let at = line.indexOf(value); at !== -1; at = line.indexOf(value, at + 1))
        hidden.fill(true, at, at + value.length);
    }
    return hidden;
  }
  const few = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 6, maxLength: 14 });

  test("the same characters stay, and no others", () => {
    fc.assert(
      fc.property(
        fc.array(few, { maxLength: 8 }),
        fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 60 }),
        (values, line) => {
          const hidden = hiddenIn(values, line);
          const left = [...line].filter((_, at) => hidden[at] === false).join("");
          expect(masker(values)(line).replaceAll("[masked]", "")).toBe(left);
        },
      ),
      { numRuns: 2000 },
    );
  });

  const anything = fc
    .string({ unit: "grapheme", minLength: 6, maxLength: 30 })
    .filter((value) => value.trim().length >= 6 && !/^\d+$/.test(value.trim()));
  test.each<[string, (value: string) => string]>([
    ["as it is", (value) => value],
    ["as JSON", (value) => JSON.stringify(value).slice(1, -1)],
    ["as JSON in JSON", (value) => JSON.stringify(JSON.stringify(value)).slice(1, -1)],
    ["in a URL", encodeURIComponent],
    ["in a form", (value) => new URLSearchParams({ v: value }).toString().slice(2)],
  ])("no value is left %s", (_, escaped) => {
    fc.assert(
      fc.property(anything, fc.array(anything, { maxLength: 3 }), (value, others) => {
        const written = escaped(value);
        expect(masker([...others, value])(`<${written}>`)).not.toContain(escaped(value.trim()));
      }),
      { numRuns: 300 },
    );
  });
});

describe("the work grows with the text and the values, not with their product", () => {
  const size = 2000;
  test.each<[string, (n: number) => { values: string[]; text: string }]>([
    [
      "values that repeat one character",
      (n) => ({ values: ["a".repeat(n), `${"a".repeat(n)}b`, `b${"a".repeat(n)}`], text: "a".repeat(4 * n) }),
    ],
    [
      "values that share all but their end",
      (n) => ({
        values: Array.from({ length: 40 }, (_, index) => `${"ab".repeat(n / 2)}${index}`),
        text: "ab".repeat(2 * n),
      }),
    ],
    [
      "a text of beginnings",
      (n) => ({
        values: [`${"ab".repeat(n / 4)}c`, `${"ab".repeat(n / 2)}d`],
        text: `${"ab".repeat(n / 2)}x`.repeat(4),
      }),
    ],
    [
      "values that are the ends of one another",
      (n) => {
        const whole = Array.from({ length: n / 10 }, (_, index) =>
          String.fromCharCode(0x4e00 + ((index * 7919) % 3000)),
        ).join("");
        return { values: Array.from({ length: 10 }, (_, index) => whole.slice(index)), text: whole.repeat(10) };
      },
    ],
    [
      "values that the text does not name",
      (n) => ({
        values: Array.from({ length: 100 }, (_, index) => `${index}`.repeat(n)),
        text: "no such thing ".repeat(n / 7),
      }),
    ],
  ])("%s", (_, made) => {
    const cost = (n: number) => {
      const { values, text } = made(n);
      const automaton = new Automaton(values);
      automaton.occurrences(text);
      return automaton.steps / (text.length + n);
    };
    expect(cost(size)).toBeLessThan(4);
    expect(cost(size * 8)).toBeLessThan(cost(size) * 1.5 + 0.1);
  });

  test("a second text that holds the same costs no more steps", () => {
    const automaton = new Automaton(["abcabcabd", "bcabcx"]);
    automaton.occurrences("abcabcabcabd");
    const { steps } = automaton;
    expect(automaton.occurrences("abcabcabcabd")).toEqual([{ from: 3, to: 12 }]);
    expect(automaton.steps).toBe(steps);
  });

  test("every transition is kept, however many a state has", () => {
    const automaton = new Automaton(["xab1", "xab2", "xab3", "xac1", "xac2", "xad1", "xad2", ""]);
    const text = "xab1xab2xab3xac1xac2xad1xad2xab4xae";
    const found = automaton.occurrences(text);
    expect(found.map(({ to }) => to)).toEqual([4, 8, 12, 16, 20, 24, 28]);
    const { steps } = automaton;
    expect(automaton.occurrences(text)).toEqual(found);
    expect(automaton.steps).toBe(steps);
  });

  test.each([
    ["plain text", 1],
    ["a%41", 2],
    ["a+b", 2],
    ["a\\nb", 2],
    ["\\".repeat(64), 4],
  ])("%j is decoded only as often as it has escapes: %i readings", (text, count) => {
    expect(readingsOf(text)).toHaveLength(count);
  });
});

describe("text in the format of a secret", () => {
  const letters = (count: number) => "a1".repeat(count).slice(0, count);
  test.each([
    ...["slk_", "sls_", "slp_", "slt_", "slb_", "slc_", "sll_", "slw_"].map((prefix) => [
      prefix,
      letters(40),
      letters(39),
    ]),
    ...["AKIA", "ASIA"].map((prefix) => [prefix, "A1".repeat(8), "A1".repeat(7)]),
    ["AIza", `${letters(33)}-_`, letters(34)],
    ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map((prefix) => [prefix, letters(36), letters(35)]),
  ])("is masked: %s", (prefix, whole, short) => {
    const line = (text: string) => `x="${text}", ${text}.`;
    expect(masker([])(line(prefix + whole))).toBe(line("[masked]"));
    expect(masker([])(line(prefix + short))).toBe(line(prefix + short));
    expect(masker([])(line(`x${prefix}${whole}`))).toBe(line(`x${prefix}${whole}`));
    expect(masker([])(line(`${prefix.slice(0, 2)}x${prefix.slice(3)}${whole}`))).not.toContain("[masked]");
  });

  test.each(["Signature", "Security-Token", "Credential"])("is masked: X-Amz-%s of a signed address", (name) => {
    const address = (value: string) =>
      `https://h/x?X-Amz-${name}=${value}&X-Amz-Date=1 then &X-Amz-${name}=${value} end`;
    expect(masker([])(address("abc%2Fdef"))).toBe(address("[masked]"));
    expect(masker([])(`no X-Amz-${name}=abc`)).toBe(`no X-Amz-${name}=abc`);
  });

  test("is masked: the password in an address, and nothing else of it", () => {
    expect(masker([])("postgres://app:hunter2@db:5432/app?a=b@c")).toBe("postgres://app:[masked]@db:5432/app?a=b@c");
    expect(masker([])("mail app:hunter2@db, https://h/a:b")).toBe("mail app:hunter2@db, https://h/a:b");
  });
});

test("each of many values is masked, in the first line and in the next", () => {
  const values = Array.from({ length: 400 }, (_, index) => `secret-${index}-${(index * 7919).toString(36)}`);
  const mask = masker(values);
  for (const line of [values, values.toReversed()]) {
    expect(mask(line.join(" , "))).toBe(values.map(() => "[masked]").join(" , "));
  }
});
