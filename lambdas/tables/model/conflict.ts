import { tableLimits } from "../../../api/tables.ts";
import { DatabaseError } from "../../aws/errors.ts";
import { invalid, Problem, unavailable } from "../../http/problem.ts";
import type { Refused } from "./change-table.ts";
import { ownStates } from "./inner-names.ts";
import { isContended } from "./retry.ts";
import type { Refusal } from "./steps.ts";

export function tableExists(name: string): Problem {
  return new Problem(
    "table_exists",
    `A table named ${name} exists already; names that differ only in case count as the same.`,
  );
}

/** The response for a change of a column that the table does not have; `path` is the field that names it. */
export const columnNotFound = (path: string): Problem =>
  new Problem("not_found", `${path} names a column that the table does not have.`);

/** The error response for a change that cannot be planned. */
export function refusalProblem(refusal: Refusal): Problem {
  switch (refusal.kind) {
    case "missing":
      return columnNotFound(refusal.path);
    case "invalid":
      return invalid(refusal.issues);
    case "exists":
      return new Problem(
        "column_exists",
        `A column named ${refusal.name} exists already; names that differ only in case count as the same.`,
        {
          fields: { path: refusal.path },
        },
      );
  }
}

/** The reasons why existing data prevent a change, by SQLSTATE; a class of two characters covers all of its states. */
const dataReasons: Record<string, string> = {
  [ownStates.valueInTheWay]: "The table holds a value that does not convert without loss",
  [ownStates.rowTooLarge]: `A row would have more than ${tableLimits.rowBytesMax} bytes as JSON`,
  "23505": "The table holds values that are not unique",
  "23502": "The table holds rows without a value",
  "22": "The table holds a value that does not convert",
};
const tooManyColumns = "54011";

function dataConflict(path: string, reason: string, row: number | null): Problem {
  const where = row === null ? "" : ` (row ${row})`;
  const fields = { path, ...(row !== null && { row }) };
  const what = path === "" ? "the change" : path;
  return new Problem("data_conflict", `${reason}${where}; ${what} is not possible, and nothing was changed.`, {
    fields,
  });
}

/** The error response for a change that failed in the database; PostgreSQL's message is not included. */
export function changeProblem({ code, statement, row }: Refused, statements: { path: string }[]): Error {
  if (isContended(code) || code === ownStates.tooLate) return unavailable(new DatabaseError(code, null));
  if (code === tooManyColumns) {
    return new Problem(
      "limit_reached",
      "Too many columns have been added to this table over time. Create a new table.",
    );
  }
  const reason = dataReasons[code] ?? dataReasons[code.slice(0, 2)];
  if (reason === undefined) return new DatabaseError(code, null);
  return dataConflict(statements[statement]?.path ?? "", reason, row);
}

/** The error response for a refused row; other errors are returned unchanged. */
export function rowProblem(error: DatabaseError, columnOf: (constraint: string) => string | undefined): Error {
  switch (error.state) {
    case "23505": {
      const column = columnOf(error.constraint ?? "");
      const what = column === undefined ? "A unique column" : `Column ${column}`;
      return new Problem("data_conflict", `${what} already holds this value in another row.`, {
        fields: { ...(column !== undefined && { column }) },
      });
    }
    case ownStates.rowTooLarge:
      return invalid([
        { path: "row", message: `must leave the row with at most ${tableLimits.rowBytesMax} bytes as JSON` },
      ]);
    default:
      return error;
  }
}
