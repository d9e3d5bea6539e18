import { describe, expect, it, test } from "vitest";
import { DatabaseError } from "../../../../lambdas/aws/errors.ts";
import { Problem } from "../../../../lambdas/http/problem.ts";
import {
  changeProblem,
  columnNotFound,
  refusalProblem,
  rowProblem,
  tableExists,
} from "../../../../lambdas/tables/model/conflict.ts";
import { ownStates } from "../../../../lambdas/tables/model/inner-names.ts";

/** What a caller is told of an error: its code, message and fields. */
function told(error: Error): unknown[] {
  if (!(error instanceof Problem)) return [error.name];
  return [error.code, error.message, error.fields];
}

const statements = [{ path: "drop.0" }, { path: "modify.0.type" }, { path: "" }];
const refused = (code: string, row: number | null = null, statement = 1) =>
  changeProblem({ state: "refused", code, statement, row }, statements);
const end = "is not possible, and nothing was changed.";

describe("a change that the database refuses", () => {
  test.each([
    [ownStates.valueInTheWay, "The table holds a value that does not convert without loss"],
    [ownStates.rowTooLarge, "A row would have more than 400000 bytes as JSON"],
    ["23505", "The table holds values that are not unique"],
    ["23502", "The table holds rows without a value"],
    ["22P02", "The table holds a value that does not convert"],
    ["22003", "The table holds a value that does not convert"],
  ])("with %s says which data stand in its way, and where", (code, reason) => {
    const path = "modify.0.type";
    expect(told(refused(code, 7))).toEqual(["data_conflict", `${reason} (row 7); ${path} ${end}`, { path, row: 7 }]);
    expect(told(refused(code))).toEqual(["data_conflict", `${reason}; ${path} ${end}`, { path }]);
  });

  it("as a whole names no field", () => {
    const expected = ["data_conflict", `The table holds rows without a value; the change ${end}`, { path: "" }];
    expect(told(refused("23502", null, 2))).toEqual(expected);
    expect(told(refused("23502", null, 3))).toEqual(expected);
  });

  it("because the table has had too many columns says what to do", () => {
    expect(told(refused("54011"))).toEqual([
      "limit_reached",
      "Too many columns have been added to this table over time. Create a new table.",
      {},
    ]);
  });

  test.each(["55P03", "40P01", "40001", ownStates.tooLate])("with %s can be tried again", (code) => {
    const problem = refused(code);
    expect(told(problem)[0]).toBe("unavailable");
    expect(problem).toMatchObject({ headers: { "retry-after": "1" }, cause: { state: code, constraint: null } });
  });

  test.each(["42501", "XX000", "2", "54000"])("with %s is an error of the service", (code) => {
    expect(refused(code)).toEqual(new DatabaseError(code, null));
  });
});

describe("a change that cannot be planned", () => {
  it.each([
    [
      { kind: "missing", path: "drop.0", name: "a" } as const,
      ["not_found", "drop.0 names a column that the table does not have.", {}],
    ],
    [
      { kind: "exists", path: "add.1.name", name: "Aa" } as const,
      [
        "column_exists",
        "A column named Aa exists already; names that differ only in case count as the same.",
        { path: "add.1.name" },
      ],
    ],
    [
      { kind: "invalid", issues: [{ path: "order", message: "must name each column once" }] } as const,
      [
        "invalid_request",
        "The request breaks a rule: order must name each column once.",
        { issues: [{ path: "order", message: "must name each column once" }] },
      ],
    ],
  ])("(%o) says what stands in its way", (refusal, expected) => {
    expect(
      told(refusalProblem(refusal.kind === "invalid" ? { ...refusal, issues: [...refusal.issues] } : refusal)),
    ).toEqual(expected);
  });

  it("because of a column or a table's name is a 404 or a 409", () => {
    expect([columnNotFound("drop.0").status, tableExists("Books").status]).toEqual([404, 409]);
    expect(told(tableExists("Books"))).toEqual([
      "table_exists",
      "A table named Books exists already; names that differ only in case count as the same.",
      {},
    ]);
  });
});

describe("a row that the database refuses", () => {
  const columnOf = (constraint: string) => (constraint === "$u1" ? "isbn" : undefined);

  it("because its value is not unique names the column, if it still exists", () => {
    expect(told(rowProblem(new DatabaseError("23505", "$u1"), columnOf))).toEqual([
      "data_conflict",
      "Column isbn already holds this value in another row.",
      { column: "isbn" },
    ]);
    for (const constraint of ["$gone", null]) {
      expect(told(rowProblem(new DatabaseError("23505", constraint), columnOf))).toEqual([
        "data_conflict",
        "A unique column already holds this value in another row.",
        {},
      ]);
    }
  });

  it("because it is too large is an invalid request", () => {
    const message = "must leave the row with at most 400000 bytes as JSON";
    expect(told(rowProblem(new DatabaseError(ownStates.rowTooLarge, null), columnOf))).toEqual([
      "invalid_request",
      `The request breaks a rule: row ${message}.`,
      { issues: [{ path: "row", message }] },
    ]);
  });

  it("for another reason is an error of the service", () => {
    const error = new DatabaseError("42501", null);
    expect(rowProblem(error, columnOf)).toBe(error);
  });
});
