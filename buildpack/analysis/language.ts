import { type App, rootFiles } from "./app.ts";
import { commandsOf, invocationOf } from "./command.ts";
import { listed, NoPlan, quoted } from "./diagnostics.ts";
import { packageJson } from "./manifests.ts";
import type { Language } from "./plan.ts";
import { procfileEntry } from "./procfile.ts";
import { isNodeEntry, isPythonManifest, siteError } from "./root.ts";
import { languageOfProgram, unsupportedLanguage } from "./unsupported-languages.ts";
import { stringAt } from "./values.ts";

/** The language of an app. If it has no start command, `otherwise` is tried before `error` is reported. */
export interface LanguageChoice {
  language: Language;
  otherwise: Language | null;
  /** The error to report instead of no_start_command if another language's manifest is beside package.json. */
  error: NoPlan | null;
}

/** The language by the rules of docs/detection.md, Language; throws `NoPlan` for another language or none. */
export function chooseLanguage(app: App, startCommand: string | null): LanguageChoice {
  const sure = (language: Language): LanguageChoice => ({ language, otherwise: null, error: null });
  const declared = startCommand === null ? procfileLanguage(app) : commandLanguage(startCommand, "startCommand");
  if (declared !== undefined) return sure(declared);
  const names = rootFiles(app);
  const pythonManifest = names.some(isPythonManifest);
  const python = pythonManifest || names.some((name) => name.endsWith(".py"));
  const other = unsupportedManifest(app, names);
  if (app.has("package.json")) {
    // A broken package.json is an error, unless a Python manifest identifies the app.
    if (!pythonManifest) packageJson(app);
    if (hasStart(app)) return sure("nodejs");
    if (!python) return { language: "nodejs", otherwise: null, error: other ?? siteError(app) ?? null };
  }
  if (pythonManifest) return sure("python");
  if (other !== null) throw other;
  if (python) return { language: "python", otherwise: app.has("package.json") ? "nodejs" : null, error: null };
  if (names.some(isNodeEntry)) return sure("nodejs");
  if (app.paths.some((path) => /^[^/]+\/__init__\.py$/.test(path))) return sure("python");
  throw siteError(app) ?? nothing(app, names);
}

function procfileLanguage(app: App): Language | undefined {
  const web = procfileEntry(app, "web");
  return web === undefined ? undefined : commandLanguage(web.command, app.shown("Procfile"));
}

/** The language of the last program that a command starts, if it is known; throws `NoPlan` for one that is not offered. */
function commandLanguage(command: string, place: string): Language | undefined {
  for (const { text } of commandsOf(command).reverse()) {
    const { program } = invocationOf(text);
    const language = languageOfProgram(program);
    if (language === "nodejs" || language === "python") return language;
    if (language !== undefined) {
      throw unsupported(`${place} starts ${quoted(program)}, which is ${language}`);
    }
  }
  return undefined;
}

function hasStart(app: App): boolean {
  try {
    return stringAt(packageJson(app), "scripts", "start") !== undefined;
  } catch (error) {
    if (error instanceof NoPlan) return false;
    throw error;
  }
}

function unsupportedManifest(app: App, names: readonly string[]): NoPlan | null {
  for (const name of names) {
    const language = unsupportedLanguage(name);
    if (language !== undefined)
      return unsupported(`${app.shown(name)} declares ${/^[AE]/.test(language) ? "an" : "a"} ${language} app`);
  }
  return null;
}

function unsupported(found: string): NoPlan {
  return new NoPlan(
    "unsupported_language",
    `${found}; Slipway runs Node.js and Python. Add a package.json or a requirements.txt if the app is one of them.`,
  );
}

function nothing(app: App, names: readonly string[]): NoPlan {
  const place = app.root === "" ? "the archive" : app.root;
  return new NoPlan(
    "nothing_detected",
    `No Node.js or Python app was found in ${place}. Add a package.json with a start script, or a requirements.txt or pyproject.toml. Files seen: ${listed(names, 12)}.`,
  );
}
