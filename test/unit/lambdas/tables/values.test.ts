import { describe, expect, it, test } from "vitest";
import type { ColumnType } from "../../../../api/tables.ts";
import type { Column } from "../../../../lambdas/tables/model/definition.ts";
import { assignments, rowValues } from "../../../../lambdas/tables/model/values.ts";

const column = (type: ColumnType, more: Partial<Column> = {}): Column => ({
  name: "v",
  type,
  nullable: true,
  unique: false,
  default: null,
  comment: null,
  constraint: null,
  ...more,
});

/** A number that JSON cannot write stands for one that JSON.parse reads as infinite. */
function bodyOf(value: unknown): string {
  const huge = (_: string, one: unknown) => (typeof one === "number" && !Number.isFinite(one) ? "HUGE" : one);
  return `{"row":{"v":${JSON.stringify(value, huge)}}}`.replaceAll('"HUGE"', "1e400");
}

function texts(type: ColumnType, value: unknown): string | null | undefined {
  const result = assignments([column(type)], rowValues([["v", value]], bodyOf(value)), "create");
  return "values" in result ? result.values[0]?.text : undefined;
}

describe("a value", () => {
  test.each<[ColumnType, unknown, string | null]>([
    ["string", "", ""],
    ["string", "😀".repeat(255), "😀".repeat(255)],
    ["text", null, null],
    ["integer", -0, "0"],
    ["integer", 1e15, "1000000000000000"],
    ["float", 1e21, "1e+21"],
    ["boolean", false, "false"],
    ["date", "2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["date", "2026-11-20T01:02:03.4-05:00", "2026-11-20T06:02:03.400Z"],
    ["json", { a: [undefined] }, '{"a":[null]}'],
    ["json", "x", '"x"'],
  ])("%s %j is written as %j", (type, value, text) => {
    expect(texts(type, value)).toBe(text);
  });

  test.each<[ColumnType, unknown]>([
    ["string", "😀".repeat(256)],
    ["string", "\u0000"],
    ["text", "\udc00"],
    ["integer", 2 ** 53],
    ["integer", Number.NaN],
    ["float", Number.POSITIVE_INFINITY],
    ["float", "1"],
    ["boolean", "true"],
    ["date", "2023-02-29"],
    ["date", "2026-11-20T24:00:00Z"],
    ["date", "2026-11-20T01:02:60Z"],
    ["date", "0000-12-31T23:59:59Z"],
    ["date", "9999-12-31T23:59:59-01:00"],
    ["date", new Date()],
    ["date", 5],
    ["date", "2026-11-20T01:02:03.1234Z"],
    ["json", { a: [Number.NEGATIVE_INFINITY] }],
  ])("%s %j is refused", (type, value) => {
    expect(texts(type, value)).toBeUndefined();
  });

  test.each([
    ["0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z"],
    ["0001-01-01", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ])("the first and the last instant are dates: %s", (value, text) => {
    expect(texts("date", value)).toBe(text);
  });

  test.each<[ColumnType, unknown, string]>([
    ["string", 5, "must be a string"],
    ["text", false, "must be a string"],
    ["text", "\u0000", "must be well-formed Unicode without NUL"],
    ["string", "x".repeat(256), "must have at most 255 characters"],
    ["integer", 1.5, "must be an integer from -9007199254740991 to 9007199254740991"],
    ["float", "1", "must be a finite number"],
    ["boolean", 0, "must be true or false"],
    ["date", "now", "must be an ISO 8601 date or instant with offset and at most milliseconds"],
    ["json", [Number.NEGATIVE_INFINITY], "must contain only numbers that JavaScript can represent without rounding"],
  ])("%s %j: %s", (type, value, message) => {
    const issues = assignments([column(type)], rowValues([["v", value]], bodyOf(value)), "update");
    expect(issues).toEqual({ issues: [{ path: "row.v", message }] });
  });

  it("of a text may have more than 255 characters", () => {
    expect(texts("text", "x".repeat(256))).toBe("x".repeat(256));
  });
});

describe("a row", () => {
  const columns = [
    column("integer", { nullable: false }),
    column("string", { name: "w", nullable: false, default: "d" }),
  ];

  it("must have what has no default, when it is created", () => {
    expect(assignments(columns, [], "create")).toEqual({ issues: [{ path: "row.v", message: "is required" }] });
    expect(assignments(columns, [], "update")).toEqual({ values: [] });
    const given = rowValues([["v", 1]], '{"row":{"v":1}}');
    expect(assignments([...columns, column("text", { name: "n" })], given, "create")).toEqual({
      values: [{ column: "v", type: "integer", text: "1" }],
    });
    expect(assignments([column("text")], rowValues([["v", null]], undefined), "create")).toEqual({
      values: [{ column: "v", type: "text", text: null }],
    });
  });

  it("names every rule that it breaks", () => {
    const row: [string, unknown][] = [
      ["v", null],
      ["w", 5],
      ["id", 1],
      ["toString", 1],
    ];
    expect(assignments(columns, rowValues(row, undefined), "update")).toEqual({
      issues: [
        { path: "row.v", message: "must not be null" },
        { path: "row.w", message: "must be a string" },
        { path: "row.id", message: "is managed automatically and cannot be set" },
        { path: "row.toString", message: "is not a column of the table" },
      ],
    });
  });
});
