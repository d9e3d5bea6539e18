import { limits } from "../../../api/limits.ts";
import { Problem } from "../../http/problem.ts";
import type { TableReader } from "../../table/reader.ts";
import { Variable, type VariableRow } from "./rows.ts";

/** All variables of a project, oldest first. */
export async function variablesOf(table: TableReader, projectId: string): Promise<VariableRow[]> {
  const { rows } = await table.list(Variable.list({ projectId }, { limit: limits.variablesPerProjectMax }));
  return rows;
}

/** Names are unique in a project (docs/api.md, Environment variables). */
export function nameTaken(name: string): Problem {
  return new Problem("name_taken", `The project already has a variable named ${name}.`);
}
