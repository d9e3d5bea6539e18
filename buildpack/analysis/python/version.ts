import type { App } from "../app.ts";
import { type Diagnostics, lineOf, lineOfKey, NoPlan, quoted, suggest } from "../diagnostics.ts";
import { optionalJson, optionalToml } from "../manifests.ts";
import { miseTool } from "../node/version.ts";
import { isTable, type Table, valueAt } from "../values.ts";
import { toolVersion } from "../version-files.ts";
import { pythonEndOfLife, pythonReleaseLineDefault, pythonReleaseLines } from "./release-lines.ts";
import { type AllowedPython, allowedPython } from "./specifier.ts";

interface Source {
  /** The source's name in messages: ".python-version", "requires-python". */
  place: string;
  file: string;
  line: number;
  value: unknown;
}

/** The release line of Python, such as "3.13" (docs/detection.md, Python line); throws `NoPlan` if only Python 2 is allowed. */
export function pythonVersion(app: App, pyproject: Table | undefined, diagnostics: Diagnostics): string {
  const read: { source: Source; allowed: AllowedPython }[] = [];
  for (const source of sourcesOf(app, pyproject)) {
    const allowed =
      typeof source.value === "string" || typeof source.value === "number"
        ? allowedPython(String(source.value))
        : undefined;
    if (allowed !== undefined) read.push({ source, allowed });
    else if (read.length === 0) diagnostics.warnings.push(unreadable(source, app));
  }
  const [winner, ...others] = read;
  if (winner === undefined) return `3.${pythonReleaseLineDefault}`;
  if (winner.allowed.kind === "python2") throw pythonTwo(winner.source);
  const { lines } = winner.allowed;
  const offered = pythonReleaseLines.find((line) => lines.includes(line));
  const chosen = offered ?? nearest(lines);
  if (offered === undefined) diagnostics.warnings.push(notOffered(winner.source, lines, chosen));
  for (const { source, allowed } of others) {
    if (allowed.kind === "lines" && allowed.lines.some((line) => lines.includes(line))) continue;
    suggest(diagnostics, app, {
      code: "version_conflict",
      message: `${winner.source.place} asks for Python ${quoted(winner.source.value)} but ${source.place} asks for ${quoted(source.value)}. Python 3.${chosen} is used; make them agree.`,
      file: source.file,
      line: source.line,
    });
  }
  return `3.${chosen}`;
}

function sourcesOf(app: App, pyproject: Table | undefined): Source[] {
  const sources: Source[] = [];
  const add = (place: string, file: string, line: number, value: unknown) => {
    if (value !== undefined && value !== null) sources.push({ place, file, line, value });
  };
  for (const file of [".python-version", "runtime.txt"])
    if (app.has(file)) add(file, file, ...firstLine(app.text(file)));
  const tool = toolVersion(app.text(".tool-versions"), ["python"]);
  if (tool !== undefined) add(".tool-versions", ".tool-versions", tool.line, tool.value);
  for (const file of ["mise.toml", ".mise.toml"]) {
    add(file, file, lineOf(app.text(file), /^[ \t]*python\s*=/m), miseTool(optionalToml(app, file), "python"));
  }
  const text = app.text("pyproject.toml");
  add(
    "requires-python",
    "pyproject.toml",
    lineOf(text, /^[ \t]*requires-python\s*=/m),
    valueAt(pyproject, "project", "requires-python"),
  );
  const poetry = valueAt(pyproject, "tool", "poetry", "dependencies", "python");
  const poetryPython = isTable(poetry) ? valueAt(poetry, "version") : poetry;
  add("tool.poetry.dependencies.python", "pyproject.toml", lineOf(text, /^[ \t]*python\s*=/m), poetryPython);
  const pipfile = valueAt(optionalToml(app, "Pipfile"), "requires");
  const pipfileLine = lineOf(app.text("Pipfile"), /^[ \t]*python_(full_)?version\s*=/m);
  add("Pipfile", "Pipfile", pipfileLine, valueAt(pipfile, "python_full_version") ?? valueAt(pipfile, "python_version"));
  const locked = valueAt(optionalJson(app, "Pipfile.lock"), "_meta", "requires");
  const lockedLine = lineOfKey(app.text("Pipfile.lock"), ["_meta", "requires"]);
  add(
    "Pipfile.lock",
    "Pipfile.lock",
    lockedLine,
    valueAt(locked, "python_full_version") ?? valueAt(locked, "python_version"),
  );
  return sources;
}

function firstLine(text: string | undefined): [number, string] {
  const lines = (text ?? "").split("\n").map((line) => line.replace(/#.*$/, "").trim());
  const index = lines.findIndex((line) => line !== "");
  return [index + 1 || 1, lines[index] ?? ""];
}

/** The allowed release line nearest to the offered ones: 3.11 for `<3.12`, 3.15 for `>=3.15`. */
const wantedLine = (lines: readonly number[]): number =>
  lines.findLast((line) => line < Math.max(...pythonReleaseLines)) ?? lines[0] ?? 0;

/** 3.12 for older versions, the newest release line for later ones. */
function nearest(lines: readonly number[]): number {
  const offered = [...pythonReleaseLines].sort((a, b) => a - b);
  return offered.find((line) => line > wantedLine(lines)) ?? Math.max(...offered);
}

function pythonTwo({ place, value }: Source): NoPlan {
  return new NoPlan(
    "unsupported_language",
    `${place} asks for Python ${quoted(value)}, and Python 2 reached end of life on 2020-01-01. Port the app to Python 3 and declare 3.12, 3.13 or 3.14.`,
  );
}

function notOffered(source: Source, lines: readonly number[], chosen: number): string {
  const wanted = wantedLine(lines);
  const ended = pythonEndOfLife.get(wanted);
  const fate =
    ended === undefined ? "which is not offered" : `which reached end of life on ${ended} and is not offered`;
  return `${source.place} asks for Python 3.${wanted}, ${fate}. Python 3.${chosen} is used. ${remedy(source)}`;
}

function unreadable(source: Source, app: App): string {
  const place = source.place === source.file ? app.shown(source.file) : `${source.place} in ${app.shown(source.file)}`;
  const value =
    source.value === ""
      ? "contains no version"
      : `says ${quoted(source.value)}, which is not a supported version of Python`;
  return `${place} ${value}, so it is ignored. ${remedy(source)}`;
}

function remedy({ place }: Source): string {
  if (place === "runtime.txt") return "Write python-3.12, python-3.13 or python-3.14 in runtime.txt.";
  if (place === "requires-python") return 'Set requires-python to ">=3.12".';
  if (place.startsWith("tool.poetry")) return `Set ${place} to "^3.12".`;
  if (place.startsWith("Pipfile")) return 'Set python_version to "3.12", "3.13" or "3.14" in Pipfile.';
  if (place.includes("mise")) return `Write python = "3.12", "3.13" or "3.14" under [tools] in ${place}.`;
  return `Write ${place === ".tool-versions" ? "python " : ""}3.12, 3.13 or 3.14 in ${place}.`;
}
