import type { AnalysisOutcome, Language, Runtime, Suggestion } from "./plan.ts";

/** One line of `slipway analyze` (docs/detection.md, Report). */
export interface AnalysisReport {
  path: string;
  runtime: string | null;
  language: string | null;
  packageManager: string | null;
  install: string | null;
  build: string | null;
  start: string | null;
  port: number | null;
  root: string | null;
  suggestions: Suggestion[];
  warning: string | null;
  error: { code: string; message: string; entry?: string } | null;
}

/** The report of an analyzed path, or of a path that the caller refused (archive_refused, archive_too_large). */
export function analysisReport(
  path: string,
  outcome:
    | AnalysisOutcome
    | { ok: false; runtime?: Runtime | null; error: { code: string; message: string; entry?: string } },
): AnalysisReport {
  if (!outcome.ok) {
    return {
      path,
      runtime: outcome.runtime ?? null,
      language: outcome.runtime ? languageOf(outcome.runtime) : null,
      packageManager: null,
      install: null,
      build: null,
      start: null,
      port: null,
      root: null,
      suggestions: [],
      warning: null,
      error: outcome.error,
    };
  }
  const { plan, suggestions, warnings } = outcome.analysis;
  return {
    path,
    runtime: plan.runtime,
    language: plan.language,
    packageManager: plan.packageManager.name,
    install: plan.install,
    build: plan.build,
    start: plan.start,
    port: plan.port,
    root: plan.root,
    suggestions,
    warning: warningText(warnings),
    error: null,
  };
}

const languageOf = (runtime: Runtime): Language => (runtime.startsWith("nodejs") ? "nodejs" : "python");

/** The API's `suggestion` (docs/api.md, Build fields): one line per finding, null when there is none. */
export function suggestionText(suggestions: readonly Suggestion[]): string | null {
  return suggestions.length === 0
    ? null
    : suggestions.map(({ file, line, message }) => `${file}:${line}: ${message}`).join("\n");
}

/** The API's `warning` (docs/api.md, Build fields): one line per warning, null if there are none. */
export const warningText = (warnings: readonly string[]): string | null =>
  warnings.length === 0 ? null : warnings.join("\n");
