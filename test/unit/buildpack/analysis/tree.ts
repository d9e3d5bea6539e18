import { analyze } from "../../../../buildpack/analysis/analyze.ts";
import type { Analysis, AnalysisOutcome } from "../../../../buildpack/analysis/plan.ts";
import type { SourceFile, SourceTree } from "../../../../buildpack/analysis/tree.ts";

type Content = string | object;

/** An archive in memory: texts by path; an object is written as JSON. */
export function tree(files: Readonly<Record<string, Content>>): SourceTree {
  const entries = Object.entries(files).map(([path, content]): [string, SourceFile] => {
    const text = typeof content === "string" ? content : JSON.stringify(content, null, 2);
    return [path, { size: Buffer.byteLength(text), kind: "file", text: () => text }];
  });
  return { files: new Map(entries) };
}

/** The outcome for an archive in memory. */
export const outcomeOf = (files: Readonly<Record<string, Content>>): AnalysisOutcome => analyze(tree(files));

/** The analysis of an archive in memory that has a plan. */
export function analysisOf(files: Readonly<Record<string, Content>>): Analysis {
  const outcome = outcomeOf(files);
  if (!outcome.ok) throw new Error(`${outcome.error.code}: ${outcome.error.message}`);
  return outcome.analysis;
}

/** The error of an archive in memory that has no plan. */
export function errorOf(files: Readonly<Record<string, Content>>): { code: string; message: string } {
  const outcome = outcomeOf(files);
  if (outcome.ok) throw new Error(`a plan was found: ${outcome.analysis.plan.start}`);
  return outcome.error;
}
