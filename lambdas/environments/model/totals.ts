import { limits } from "../../../api/limits.ts";
import { Problem } from "../../http/problem.ts";
import { absent, present, type Update } from "../../table/entity.ts";
import type { TableReader } from "../../table/reader.ts";
import type { TableWriter } from "../../table/writer.ts";
import { VariableCount, type VariableCountRow, type VariableRow } from "./rows.ts";
import { variablesOf } from "./variables.ts";

/** The change of a project's totals by a write; negative for a removal. */
export interface Added {
  count: number;
  bytes: number;
}

/** The bytes of a variable that count against the project's limit (docs/api.md, Environment variables). */
export function bytesOf({ name, value }: Pick<VariableRow, "name" | "value">): number {
  return Buffer.byteLength(name) + Buffer.byteLength(value);
}

/** Adds to the project's totals unless that exceeds a limit; fails on a row without bytes (see `checkTotals`). */
export function addToTotals(projectId: string, added: Added): Update<VariableCountRow> {
  const { count, bytes } = added;
  return VariableCount.update(
    { projectId },
    { add: { count, bytes } },
    {
      ...(count > 0 && { count: { is: "absentOrBelow", value: limits.variablesPerProjectMax } }),
      // A project that is over the limit may still get smaller.
      bytes: bytes > 0 ? { is: "newRowOrBelow", value: limits.variablesBytesMax - bytes + 1 } : present,
    },
  );
}

/**
 * For totals that `addToTotals` left unchanged: throws the limit that they would exceed. A row without bytes gets them,
 * and the caller tries again.
 */
export async function checkTotals(
  table: TableReader & TableWriter,
  projectId: string,
  totals: VariableCountRow | undefined,
  added: Added,
): Promise<void> {
  if (totals === undefined) return;
  if (added.count > 0 && totals.count >= limits.variablesPerProjectMax) {
    throw new Problem("limit_reached", `A project holds at most ${limits.variablesPerProjectMax} variables.`);
  }
  if (totals.bytes === undefined) return storeBytes(table, projectId, totals.count);
  const bytes = totals.bytes + added.bytes;
  if (added.bytes <= 0 || bytes <= limits.variablesBytesMax) return;
  throw new Problem(
    "variables_too_large",
    `The names and values of a project's variables have at most ${limits.variablesBytesMax} bytes together; with this change they would have ${bytes}. Remove or shorten some variables, then try again.`,
  );
}

/**
 * Sums the variables up. Every writer of this version stores the bytes before it changes a variable; the condition on
 * the number notices a writer of an earlier version.
 */
async function storeBytes(table: TableReader & TableWriter, projectId: string, count: number): Promise<void> {
  const variables = await variablesOf(table, projectId);
  if (variables.length !== count) return;
  const bytes = variables.reduce((sum, variable) => sum + bytesOf(variable), 0);
  await table.write({ totals: VariableCount.update({ projectId }, { set: { bytes } }, { bytes: absent, count }) });
}
