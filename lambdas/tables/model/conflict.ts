import { tableLimits } from "../../../api/tables.ts";
import { DatabaseError } from "../../aws/errors.ts";
import { invalid, notFound, Problem, unavailable } from "../../http/problem.ts";
import type { ChangeResult } from "./catalog.ts";
import { ownStates } from "./setup.ts";
import type { Act } from "./statements.ts";
import type { Refusal } from "./steps.ts";

export function tableExists(name: string): Problem {
  return new Problem("table_exists", `A table named ${name} exists; case does not tell names apart.`);
}

/** Why a change cannot be planned, as an answer. */
export function refusalProblem(refusal: Refusal): Problem {
  switch (refusal.kind) {
    case "missing":
      return notFound();
    case "invalid":
      return invalid(refusal.issues);
    case "exists":
      return new Problem("column_exists", `A column named ${refusal.name} exists; case does not tell names apart.`, {
        fields: { path: refusal.path },
      });
  }
}

/** What stands in the data's way, by SQLSTATE; classes of two characters stand for all of theirs. */
const dataReasons: Record<string, string> = {
  [ownStates.dataInTheWay]: "a value that does not convert without loss",
  "23505": "values that are not unique",
  "23502": "rows without a value",
  "22": "a value that does not convert",
};
const passing = new Set(["55P03", "40P01", "40001"]);
const tooManyColumns = "54011";

function dataConflict(path: string, reason: string, row: number | null): Problem {
  const where = row === null ? "" : ` (row ${row})`;
  const fields = { path, ...(row !== null && { row }) };
  return new Problem(
    "data_conflict",
    `The table holds ${reason}${where}; ${path} is not possible and nothing is changed.`,
    { fields },
  );
}

/** Why a change failed in the database, as an answer; nothing of PostgreSQL's own words reaches the caller. */
export function changeProblem(result: ChangeResult, acts: Act[]): Error {
  if (result.state !== "refused") return unavailable(new Error(`The catalog says ${result.state}`));
  const { code } = result;
  if (passing.has(code)) return unavailable(new DatabaseError(code, null));
  if (code === tooManyColumns) {
    return new Problem("limit_reached", "The table has been given too many columns over time; create it anew.");
  }
  const reason = dataReasons[code] ?? dataReasons[code.slice(0, 2)];
  if (reason === undefined) return new DatabaseError(code, null);
  return dataConflict(acts[result.act]?.path ?? "", reason, result.row);
}

/** Why a row was refused, as an answer; other errors stay what they are. */
export function rowProblem(error: unknown, columnOf: (constraint: string) => string | undefined): unknown {
  if (!(error instanceof DatabaseError)) return error;
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
      return passing.has(error.state) ? unavailable(error) : error;
  }
}
