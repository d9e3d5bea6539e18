import { describe, expect, it, test } from "vitest";
import { isExactNumber, numberLengthMax } from "../../../../lambdas/tables/model/exact-number.ts";
import { jsonLoss, writtenMembers } from "../../../../lambdas/tables/model/json-text.ts";
import { anyText, fc } from "../../../harness/fast-check.ts";

const nested = (depth: number, inner = "") => `${"[".repeat(depth)}${inner}${"]".repeat(depth)}`;
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

const deep = "must not be nested deeper than 256";
const rounded = "must contain only numbers that JavaScript can represent without rounding";
const repeated = "must not contain a key twice in one object";

describe("a JSON text", () => {
  test.each([
    ["null"],
    ['"[[[[{{{"'],
    ['{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}'],
    ['{"a":"a","b":"a"}'],
    ['["a","a",{"a":["a"]}]'],
    [' { "a" : 1.50 , "b" : 1e2 , "c" : -0.0 } '],
    ["[1e23,18014398509481990]"],
    ["[9007199254740992,-123456789012345680000,5e-324,1.7976931348623157e308]"],
    ['"12345678901234567890"'],
    ['"\\"1e400\\\\"'],
    ['{"\\\\":1,"\\"":2,"\\\\\\"":3}'],
    [nested(256)],
    [nested(256, "1")],
    [objects(256)],
  ])("keeps everything: %s", (text) => {
    expect(jsonLoss(text)).toBeUndefined();
  });

  test.each([
    [nested(257), deep],
    [objects(257), deep],
    [nested(500_000), deep],
    ["1e400", rounded],
    ["[1,-1e400]", rounded],
    ["12345678901234567890", rounded],
    ["9007199254740993", rounded],
    ['{"a":0.12345678901234567890}', rounded],
    ["1e-400", rounded],
    [`1.${"0".repeat(numberLengthMax)}`, rounded],
    ['{"a":1,"a":1}', repeated],
    ['[{"b":{"a":1,"c":{},"a":2}}]', repeated],
    ['{"a":1,"\\u0061":2}', repeated],
    ['{"":1,"":2}', repeated],
    ['{"__proto__":1,"__proto__":2}', repeated],
    ['{"\\ud800":1,"\\uD800":2}', repeated],
    ['{"a":[{"x":1}],"b":2,"a":3}', repeated],
  ])("loses something: %#", (text, rule) => {
    expect(jsonLoss(text)).toBe(rule);
  });

  it("that JavaScript has written loses nothing, and is found in its object as it was written", () => {
    fc.assert(
      fc.property(fc.dictionary(anyText(), fc.jsonValue()), fc.nat(3), (value, indent) => {
        expect(jsonLoss(JSON.stringify(value, null, indent))).toBeUndefined();
        const members = writtenMembers(JSON.stringify(value, null, indent));
        expect([...members.keys()]).toEqual(Object.keys(value));
        for (const [key, text] of members) expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value[key])));
      }),
    );
  });

  it("is read in a time that grows with its length alone", () => {
    const hostile = [
      `"${'\\"'.repeat(100_000)}"`,
      `[${"1,".repeat(100_000)}1]`,
      `[${'"\\\\",'.repeat(100_000)}1]`,
      `{"a":${"0".repeat(500_000)}1}`,
      `[${"0".repeat(300_000)}]`,
      `{${Array.from({ length: 30_000 }, (_, key) => `"${key}":1`).join()}}`,
    ];
    // Processor time: the machine may be doing other things. A quadratic pass would take minutes.
    const before = process.cpuUsage();
    for (const text of hostile) jsonLoss(text);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(5_000);
  });
});

describe("the members of an object", () => {
  it("are as they are written, without the space around them", () => {
    const text = '{"a": {"b":1.0, "c":[1,2]} , "x":"}\\"," ,"n":12345678901234567890,"a2":[]}';
    expect([...writtenMembers(text)]).toEqual([
      ["a", '{"b":1.0, "c":[1,2]}'],
      ["x", '"}\\","'],
      ["n", "12345678901234567890"],
      ["a2", "[]"],
    ]);
  });

  it("are found under a key that is written with escapes, the last of two counting", () => {
    expect([...writtenMembers('{"r\\u006fw":1,"row":2}')]).toEqual([["row", "2"]]);
    expect(writtenMembers("{}").size).toBe(0);
  });
});

describe("a number", () => {
  it("that JavaScript has written is exact, however its digits are shifted", () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer({ min: 0, max: 9 }),
        (value, zeros) => {
          const text = String(value);
          expect(isExactNumber(text)).toBe(true);
          const padded = text.includes("e") || !text.includes(".") ? text : text + "0".repeat(zeros);
          expect(isExactNumber(padded)).toBe(true);
        },
      ),
    );
  });

  it("is exact only when JavaScript's own text of it has the same value", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), (value) => {
        const [digits = "", exponent = "0"] = String(Number(value)).split("e+");
        const [whole = "", fraction = ""] = digits.split(".");
        const again = BigInt(whole + fraction) * 10n ** (BigInt(exponent) - BigInt(fraction.length));
        expect(isExactNumber(String(value))).toBe(again === value);
      }),
    );
  });

  test.each(["", "x", "NaN", "Infinity", "1e", "--1"])("is not %j", (text) => {
    expect(isExactNumber(text)).toBe(false);
  });
});
