import { distance } from "fastest-levenshtein";
import { type App, rootFiles } from "../app.ts";
import { type Diagnostics, suggest } from "../diagnostics.ts";
import type { Plan } from "../plan.ts";

/** Advice on files that were included by mistake or have a wrong name (docs/detection.md, Suggestions). */
export function suggestFromFiles(app: App, plan: Plan, diagnostics: Diagnostics): void {
  suggestMisspelt(app, plan, diagnostics);
  suggestInstalledPackages(app, diagnostics);
}

const WRONG_VERSION = /^\.?python[-_.]?versions?(\.txt)?$/i;

function suggestMisspelt(app: App, plan: Plan, diagnostics: Diagnostics): void {
  if (plan.language !== "python") return;
  for (const name of rootFiles(app)) {
    const meant = meantName(name);
    if (meant === undefined || app.has(meant) || (meant === "requirements.txt" && plan.packageManager.name !== "pip"))
      continue;
    suggest(diagnostics, app, {
      code: "misspelt_file",
      message: `${name} is not read: its name should be ${meant}. Rename it.`,
      file: name,
    });
  }
}

function meantName(name: string): string | undefined {
  if (name === "requirements.txt" || name === ".python-version") return undefined;
  if (WRONG_VERSION.test(name)) return ".python-version";
  const lower = name.toLowerCase();
  if (
    /^re.{0,3}[qr].*\.(txt|text|tx|txt\.txt)$/.test(lower) &&
    distance(lower.replace(/\.txt\.txt$|\.text$|\.tx$/, ".txt"), "requirements.txt") <= 2
  ) {
    return "requirements.txt";
  }
  return distance(lower, ".python-version") <= 2 ? ".python-version" : undefined;
}

function suggestInstalledPackages(app: App, diagnostics: Diagnostics): void {
  const modules = app.paths.find((path) => /^([^/]+\/)?node_modules\//.test(path));
  const environment = app.paths.find((path) =>
    /^([^/]+\/){1,2}(pyvenv\.cfg$|lib\/(python3[^/]*\/)?site-packages\/)/i.test(path),
  );
  for (const [path, folder] of [
    [modules, "node_modules"],
    [environment, "virtual environment"],
  ]) {
    if (path === undefined || folder === undefined) continue;
    suggest(diagnostics, app, {
      code: "dependencies_in_archive",
      message: `The archive holds a ${folder} folder, which is not used: packages are installed again for the image. Leave it out of the archive.`,
      file: path,
    });
  }
}
