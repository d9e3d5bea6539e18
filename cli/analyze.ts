import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { analyzeWithSecrets } from "../buildpack/analysis/analyze.ts";
import { analyzeArchive } from "../buildpack/analysis/inspection.ts";
import type { AnalysisOutcome } from "../buildpack/analysis/plan.ts";
import { type AnalysisReport, analysisReport } from "../buildpack/analysis/report.ts";
import { decodeText, isJunk, type SourceFile, type SourceTree, wants } from "../buildpack/analysis/tree.ts";
import { ArchiveRefused, type ArchiveRule } from "../buildpack/zip/refused.ts";
import { leftOutBecause } from "../sdk/folder/left-out.ts";
import { selectFiles } from "../sdk/folder/select-files.ts";
import { Failure } from "./failure.ts";

/** Analyzes a folder or a zip as the service would; `shown` is the path in the report. File-system errors pass through. */
export async function analyzePath(
  shown: string,
  path: string,
  { asDeployed }: { asDeployed: boolean },
): Promise<AnalysisReport> {
  try {
    const found = statSync(path);
    if (!found.isDirectory() && !found.isFile()) throw new Failure(`${shown} is neither a folder nor a zip.`);
    const outcome = found.isDirectory() ? analyzeWithSecrets(folderTree(path, asDeployed)) : analyzeZip(path);
    const report = analysisReport(shown, await outcome);
    const reason = asDeployed && report.error?.entry ? leftOutBecause(path, report.error.entry) : undefined;
    if (report.error === null || reason === undefined) return report;
    return { ...report, error: { ...report.error, message: `${report.error.message} ${reason}` } };
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error;
    const code = tooLarge.has(error.rule) ? "archive_too_large" : "archive_refused";
    const entry = error.entry === undefined ? {} : { entry: error.entry };
    return analysisReport(shown, { ok: false, error: { code, message: error.message, ...entry } });
  }
}

const tooLarge: ReadonlySet<ArchiveRule> = new Set(["too_large", "unpacked_too_large", "too_many_entries"]);

function folderTree(folder: string, asDeployed: boolean): SourceTree {
  const places = asDeployed ? selectFiles(folder).entries.map(({ path }) => path) : everythingIn(folder);
  const files = new Map<string, SourceFile>();
  for (const path of places) {
    // A name that is not UTF-8 cannot be looked up; no real app file has one.
    const stats = lstatSync(join(folder, path), { throwIfNoEntry: false });
    if (stats === undefined) continue;
    const kind = stats.isSymbolicLink() ? "symlink" : "file";
    if (kind === "file" && !stats.isFile()) continue;
    const text = () => decodeText(readFileSync(join(folder, path)));
    files.set(path, {
      size: stats.size,
      kind,
      ...(kind === "file" && wants(path, stats.size) && { text: once(text) }),
    });
  }
  return { files };
}

/** Every path below a folder, without version control's own files, which detection never sees. */
function everythingIn(folder: string): string[] {
  const found: string[] = [];
  const walk = (place: string) => {
    for (const child of readdirSync(join(folder, place), { withFileTypes: true })) {
      const path = place === "" ? child.name : `${place}/${child.name}`;
      if (!child.isDirectory()) found.push(path);
      else if (!isJunk(`${path}/`)) walk(path);
    }
  };
  walk("");
  return found.sort();
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

async function analyzeZip(path: string): Promise<AnalysisOutcome> {
  await using file = await open(path, "r");
  const { size } = await file.stat();
  const read = async (offset: number, length: number) => {
    const bytes = Buffer.allocUnsafe(length);
    const { bytesRead } = await file.read(bytes, 0, length, offset);
    return bytes.subarray(0, bytesRead);
  };
  return await analyzeArchive({ size, read });
}
