import semver from "semver";
import type { App } from "../app.ts";
import { type Diagnostics, lineOf, lineOfKey, quoted, suggest } from "../diagnostics.ts";
import { optionalToml } from "../manifests.ts";
import { isTable, stringAt, type Table, valueAt } from "../values.ts";
import { toolVersion } from "../version-files.ts";
import { nodeCodenames, nodeEndOfLife, nodeReleaseLineDefault, nodeReleaseLines } from "./release-lines.ts";

interface Source {
  /** The source's name in messages: "engines.node", ".nvmrc". */
  place: string;
  file: string;
  line: number;
  value: unknown;
}

const LINES = Array.from({ length: 100 }, (_, line) => line);

/** The release line of Node.js, "22", "24" or "26" (docs/detection.md, Node.js line); unreadable and conflicting versions are reported in the diagnostics. */
export function nodeVersion(app: App, manifest: Table | undefined, diagnostics: Diagnostics): string {
  const read: { source: Source; lines: number[] }[] = [];
  for (const source of sourcesOf(app, manifest)) {
    const lines = linesOf(source.value);
    if (lines !== undefined) read.push({ source, lines });
    else if (read.length === 0) diagnostics.warnings.push(unreadable(source, app));
  }
  const [winner, ...others] = read;
  if (winner === undefined) return String(nodeReleaseLineDefault);
  const line = nodeReleaseLines.find((offered) => winner.lines.includes(offered));
  const chosen = newestOffered(winner.lines) ?? nearest(winner.lines);
  if (line === undefined) diagnostics.warnings.push(notOffered(winner.source, winner.lines, chosen));
  for (const { source, lines } of others) {
    if (lines.some((other) => winner.lines.includes(other))) continue;
    suggest(diagnostics, app, {
      code: "version_conflict",
      message: `${winner.source.place} asks for Node.js ${asked(winner.source)} but ${source.place} asks for ${asked(source)}. Node.js ${chosen} is used; make them agree.`,
      file: source.file,
      line: source.line,
    });
  }
  return String(chosen);
}

function sourcesOf(app: App, manifest: Table | undefined): Source[] {
  const sources: Source[] = [];
  const packageText = app.text("package.json");
  const add = (place: string, file: string, line: number, value: unknown) => {
    if (value !== undefined && value !== null) sources.push({ place, file, line, value });
  };
  for (const file of [".nvmrc", ".node-version"]) {
    if (app.has(file)) add(file, file, ...versionFile(app.text(file)));
  }
  const engine = valueAt(manifest, "engines", "node");
  if (engine !== "") add("engines.node", "package.json", lineOfKey(packageText, ["engines", "node"]), engine);
  const runtime = runtimeOf(valueAt(manifest, "devEngines", "runtime"));
  add("devEngines.runtime", "package.json", lineOfKey(packageText, ["devEngines", "runtime"]), runtime);
  add("volta.node", "package.json", lineOfKey(packageText, ["volta", "node"]), valueAt(manifest, "volta", "node"));
  const tool = toolVersion(app.text(".tool-versions"), ["nodejs", "node"]);
  if (tool !== undefined) add(".tool-versions", ".tool-versions", tool.line, tool.value);
  for (const file of ["mise.toml", ".mise.toml"]) {
    const table = optionalToml(app, file);
    add(
      file,
      file,
      lineOf(app.text(file), /^[ \t]*(node|nodejs)[ \t]*=/m),
      miseTool(table, "node") ?? miseTool(table, "nodejs"),
    );
  }
  return sources;
}

/** The first line of a version file that is neither a comment nor a setting, and its number. */
function versionFile(text: string | undefined): [number, string] {
  const lines = (text ?? "").split("\n").map((line) => line.replace(/#.*$/, "").trim());
  const index = lines.findIndex((line) => line !== "" && !/^\w+\s*=/.test(line));
  return [index + 1 || 1, lines[index] ?? ""];
}

function runtimeOf(runtime: unknown): unknown {
  const candidates = Array.isArray(runtime) ? runtime : [runtime];
  return candidates.filter(isTable).find((candidate) => stringAt(candidate, "name") === "node")?.version;
}

/** A tool's version in mise's `[tools]`: a string, a list or a table with `version`. */
export function miseTool(table: Table | undefined, tool: string): unknown {
  const value = valueAt(table, "tools", tool);
  const first = Array.isArray(value) ? value[0] : value;
  return isTable(first) ? stringAt(first, "version") : first;
}

/** The release lines that a declared version allows, undefined if it cannot be read. */
function linesOf(value: unknown): number[] | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const text = String(value).trim();
  if (text === "" || text.length > 256) return undefined;
  const alias = aliasLine(text.toLowerCase());
  if (alias !== undefined) return [alias];
  const range = text.replace(/\b(?:nodejs|node)[-@ ]?(?=v?\d)/gi, "").replace(/(^|[\s<>=^~|])v(?=\d)/gi, "$1");
  const exact = semver.parse(range, { loose: true });
  if (exact !== null) return [exact.major];
  if (semver.validRange(range, { loose: true }) === null) return undefined;
  const lines = LINES.filter((line) => semver.intersects(`${line}.x`, range, { loose: true }));
  return lines.length === 0 ? undefined : lines;
}

function aliasLine(text: string): number | undefined {
  if (/^(node|latest|current|stable)$/.test(text)) return Math.max(...nodeReleaseLines);
  const lts = /^lts(?:[/-](.+))?$/.exec(text);
  const name = lts === null ? text : (lts[1] ?? "*");
  if (lts !== null && (name === "*" || name === "latest")) return nodeReleaseLineDefault;
  const back = /^-?(\d{1,2})$/.exec(lts === null ? "" : name)?.[1];
  if (back !== undefined) return nodeReleaseLineDefault - 2 * Number(back);
  return nodeCodenames.get(name);
}

const newestOffered = (lines: readonly number[]): number | undefined =>
  nodeReleaseLines.find((line) => lines.includes(line));

/** The allowed release line nearest to the offered ones: 20 for `>=18 <21`, 27 for `>=27`. */
const wantedLine = (lines: readonly number[]): number =>
  lines.findLast((line) => line < Math.max(...nodeReleaseLines)) ?? lines[0] ?? 0;

/** The nearest offered release line above the requested one, else the newest. */
function nearest(lines: readonly number[]): number {
  const offered = [...nodeReleaseLines].sort((a, b) => a - b);
  return offered.find((line) => line > wantedLine(lines)) ?? Math.max(...offered);
}

const asked = (source: Source): string => {
  const text = String(source.value).trim();
  return /^v?\d+(\.\d+){0,2}$/.test(text) ? text.replace(/^v/, "") : quoted(text);
};

function notOffered(source: Source, lines: readonly number[], chosen: number): string {
  const wanted = wantedLine(lines);
  const ended = nodeEndOfLife.get(wanted);
  const fate =
    ended === undefined ? "which is not offered" : `which reached end of life on ${ended} and is not offered`;
  return `${source.place} asks for Node.js ${wanted}, ${fate}. Node.js ${chosen} is used. ${remedy(source)}`;
}

function unreadable(source: Source, app: App): string {
  const shown = app.shown(source.file);
  const place = source.place === source.file ? shown : `${source.place} in ${shown}`;
  const value =
    source.value === "" ? "contains no version" : `says ${quoted(source.value)}, which is not a Node.js version`;
  return `${place} ${value}, so it is ignored. ${remedy(source)}`;
}

function remedy({ place }: Source): string {
  if (place.includes("mise")) return `Write node = "22", "24" or "26" under [tools] in ${place}.`;
  if (place === ".tool-versions") return "Write nodejs 22, 24 or 26 in .tool-versions.";
  if (place.startsWith(".")) return `Write 22, 24 or 26 in ${place}.`;
  return `Set ${place} to "22.x", "24.x" or "26.x".`;
}
