import type { Suggestion } from "../plan.ts";

/** The most suggestions that a build shows (docs/detection.md, Suggestions). */
const suggestionsMax = 6;

const IMPORTANCE = [
  "committed_secret",
  "committed_env_file",
  "loopback_address",
  "env_file",
  "functions_not_run",
  "undeclared_import",
  "development_start",
  "daemon_start",
  "platform_adapter",
  "fixed_port",
  "hardcoded_url",
  "lock_out_of_step",
  "no_lock_file",
  "several_locks",
  "version_conflict",
  "misspelt_file",
  "server_added",
  "migrations_not_run",
  "dependencies_in_archive",
];

/** The suggestions to show: the most important first, one of each kind before a second of any kind, at most six. */
export function mostImportant(suggestions: readonly Suggestion[]): Suggestion[] {
  const seen = new Map<string, number>();
  const distinct = [
    ...new Map(suggestions.map((found) => [`${found.code}\n${found.file}\n${found.line}`, found])).values(),
  ];
  const ranked = distinct.map((found) => {
    const round = seen.get(found.code) ?? 0;
    seen.set(found.code, round + 1);
    return { found, round, rank: IMPORTANCE.indexOf(found.code) };
  });
  ranked.sort((a, b) => a.round - b.round || a.rank - b.rank);
  const chosen = ranked.slice(0, suggestionsMax);
  chosen.sort((a, b) => a.rank - b.rank || a.round - b.round);
  return chosen.map(({ found }) => found);
}
