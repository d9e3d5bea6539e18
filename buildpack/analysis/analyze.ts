import { noSettings, type Settings } from "../../api/stored-settings.ts";
import type { App } from "./app.ts";
import { detectedBy } from "./detected.ts";
import { type Diagnostics, NoPlan, noDiagnostics } from "./diagnostics.ts";
import { chooseLanguage } from "./language.ts";
import { nodePlan } from "./node/plan.ts";
import type { AnalysisOutcome, Language, Plan, Suggestion } from "./plan.ts";
import { pythonPlan } from "./python/plan.ts";
import { findRoot } from "./root.ts";
import { scanSecrets } from "./secrets/scan.ts";
import { type AppliedSettings, applySettings } from "./settings.ts";
import { suggestFromFiles } from "./suggestions/files.ts";
import { suggestLocalUrls } from "./suggestions/local-urls.ts";
import { mostImportant } from "./suggestions/order.ts";
import { type SourceTree, withoutJunk } from "./tree.ts";

/**
 * Makes a plan from an archive's files and its project's settings, or the error that explains why no plan is possible. Never
 * throws because of an archive's content. Does not search for secrets.
 */
export function analyze(source: SourceTree, project: Settings = noSettings): AnalysisOutcome {
  try {
    const tree = withoutJunk(source);
    const applied = applySettings(tree, project);
    const { settings, findings } = applied;
    const app = findRoot(tree, applied);
    const { plan, diagnostics } = planOf(app, settings);
    suggestFromFiles(app, plan, diagnostics);
    suggestLocalUrls(app, diagnostics);
    const { runtime, language } = plan;
    const suggestions = mostImportant(diagnostics.suggestions);
    const planFor = (other: AppliedSettings) => planOf(findRoot(tree, other), other.settings).plan;
    return {
      ok: true,
      analysis: { runtime, language, plan, suggestions, warnings: diagnostics.warnings },
      settings,
      findings,
      detected: detectedBy(planFor, applied, plan),
    };
  } catch (error) {
    if (!(error instanceof NoPlan)) throw error;
    const { code, message, entry, runtime } = error;
    return { ok: false, runtime, error: { code, message, ...(entry !== undefined && { entry }) } };
  }
}

/** `analyze` with the committed secrets among its suggestions. */
export async function analyzeWithSecrets(source: SourceTree): Promise<AnalysisOutcome> {
  const outcome = analyze(source);
  return outcome.ok ? withSecrets(outcome, await scanSecrets(source)) : outcome;
}

/** An outcome with the findings of `scanSecrets` or `secretsOf` among its suggestions. */
export function withSecrets(outcome: AnalysisOutcome, found: readonly Suggestion[]): AnalysisOutcome {
  if (!outcome.ok) return outcome;
  const suggestions = mostImportant([...outcome.analysis.suggestions, ...found]);
  return { ...outcome, analysis: { ...outcome.analysis, suggestions } };
}

const PLANNERS: Readonly<Record<Language, (app: App, settings: Settings, diagnostics: Diagnostics) => Plan>> = {
  nodejs: nodePlan,
  python: pythonPlan,
};

function planOf(app: App, settings: Settings): { plan: Plan; diagnostics: Diagnostics } {
  const choice = chooseLanguage(app, settings.startCommand);
  const first = attempt(app, settings, choice.language);
  if (!(first instanceof NoPlan)) return first;
  if (first.code !== "no_start_command") throw first;
  if (choice.error !== null) throw choice.error;
  const second = choice.otherwise === null ? first : attempt(app, settings, choice.otherwise);
  if (second instanceof NoPlan) throw first;
  return second;
}

function attempt(app: App, settings: Settings, language: Language): { plan: Plan; diagnostics: Diagnostics } | NoPlan {
  const diagnostics = noDiagnostics();
  try {
    return { plan: PLANNERS[language](app, settings, diagnostics), diagnostics };
  } catch (error) {
    if (!(error instanceof NoPlan)) throw error;
    error.runtime = diagnostics.runtime;
    return error;
  }
}
