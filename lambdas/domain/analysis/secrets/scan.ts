import type { Suggestion } from "../plan.ts";
import type { SourceTree } from "../tree.ts";

/** Committed secrets and .env files with values: the rule, the file and the line, never the value. */
export async function scanSecrets(_tree: SourceTree): Promise<Suggestion[]> {
  return [];
}
