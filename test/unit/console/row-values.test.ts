import { describe, expect, test } from "vitest";
import { cellLine, cellText, cellValue, roundedNumber } from "../../../console/row-values.ts";

describe("a value of a row in the form", () => {
  test.each([
    ["string", "", { value: "" }],
    ["text", " a ", { value: " a " }],
    ["integer", " 12 ", { value: 12 }],
    ["integer", "-9007199254740991", { value: -9007199254740991 }],
    ["float", "1e3", { value: 1000 }],
    ["boolean", "false", { value: false }],
    ["json", '{"a": [1.50, null]}', { value: { a: [1.5, null] } }],
    ["date", "2026-11-22", { value: "2026-11-22" }],
    ["json", null, { value: null }],
  ] as const)("%s %j means %j", (type, draft, expected) => {
    expect(cellValue(type, draft)).toEqual(expected);
  });

  test.each([
    ["integer", "9007199254740993"],
    ["integer", "1.5"],
    ["integer", ""],
    ["float", ""],
    ["float", "Infinity"],
    ["json", "{a: 1}"],
    ["json", '{"id": 12345678901234567890}'],
  ] as const)("%s %j is refused with a reason", (type, draft) => {
    expect(cellValue(type, draft)).toEqual({ message: expect.stringMatching(/^(It must|The number).*\.$/) });
  });

  test("numbers that JavaScript would round are found, and only those", () => {
    expect(
      roundedNumber('{"a": 0.1, "b": 1.50, "c": -2e3, "d": "12345678901234567890", "e": 100000000000000000000}'),
    ).toBe(undefined);
    expect(roundedNumber("[1, 0.12345678901234567890]")).toBe("0.12345678901234567890");
    expect(roundedNumber("1e999")).toBe("1e999");
  });

  test("is shown as text to edit and as one line", () => {
    expect([cellText(null), cellText({ a: 1 }), cellText(false)]).toEqual([null, '{\n  "a": 1\n}', "false"]);
    expect([cellLine({ a: [1] }), cellLine(0), cellLine("x")]).toEqual(['{"a":[1]}', "0", "x"]);
  });
});
