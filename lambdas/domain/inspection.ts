import type { Finding, Runtime } from "../../api/builds.ts";
import { analyze, withSecrets } from "./analysis/analyze.ts";
import { wrapperOf } from "./analysis/app.ts";
import type { AnalysisOutcome, Plan, Suggestion } from "./analysis/plan.ts";
import { suggestionText, warningText } from "./analysis/report.ts";
import { secretsOf } from "./analysis/secrets/scan.ts";
import {
  decodeText,
  depthOf,
  isForDetection,
  isJunk,
  type SourceFile,
  type SourceTree,
  wants,
} from "./analysis/tree.ts";
import { openArchive } from "./zip/archive.ts";
import type { ArchiveEntry } from "./zip/entry.ts";
import { ArchiveRefused } from "./zip/refused.ts";
import type { ByteSource } from "./zip/source.ts";

export type Inspection =
  | { ok: true; plan: Plan; suggestion: string | null; warning: string | null; findings: Finding[] }
  | { ok: false; message: string; runtime: Runtime | null };

/** The most that is kept of an archive's texts for detection, in bytes; what is beyond is only looked through for secrets. */
const keptBytesMax = 64 * 1024 * 1024;

/** Above this size, in bytes, only the parts of an archive that the analysis needs are read. */
const readWholeBytesMax = 250_000_000;

/**
 * From an archive to what `analyze` says, with its committed secrets. An archive of up to 250 MB is checked in every byte on
 * the way; of a larger one the list of contents, the links and what is read, and the image's build refuses what is wrong in
 * the rest. Throws ArchiveRefused; errors of the source pass through.
 */
export async function analyzeArchive(source: ByteSource): Promise<AnalysisOutcome> {
  const archive = await openArchive(source);
  const contents = new Map<string, Uint8Array>();
  const tree = treeOf(archive.entries, contents);
  const wrapper = wrapperOf(tree).length;
  const wanted = archive.entries.filter(({ kind, path, size }) => kind === "file" && wants(path, size));
  const kept = keptPaths(wanted);
  const secrets: Suggestion[] = [];
  const take = async ({ path }: ArchiveEntry, bytes: Uint8Array) => {
    if (kept.has(path)) contents.set(path, bytes);
    secrets.push(...(await secretsOf(path.slice(wrapper), () => decodeText(bytes))));
  };
  const named = new Set(wanted);
  const isWanted = (entry: ArchiveEntry) => named.has(entry);
  if (source.size > readWholeBytesMax) await archive.pick(isWanted, take);
  else await archive.verify(take, { wants: isWanted });
  secrets.sort((one, other) => (one.file < other.file ? -1 : 1));
  return withSecrets(analyze(tree), secrets);
}

function treeOf(entries: readonly ArchiveEntry[], contents: ReadonlyMap<string, Uint8Array>): SourceTree {
  const files = new Map<string, SourceFile>();
  for (const { path, kind, size } of entries) {
    if (kind === "directory" || isJunk(path)) continue;
    const text = () => {
      const bytes = contents.get(path);
      return bytes && decodeText(bytes);
    };
    files.set(path, { size, kind, text });
  }
  return { files };
}

/** The files that are kept for detection: those nearest the top first, as many as there is room for. */
function keptPaths(wanted: readonly ArchiveEntry[]): ReadonlySet<string> {
  const kept = new Set<string>();
  let room = keptBytesMax;
  const candidates = wanted
    .filter(({ path }) => isForDetection(path))
    .map(({ path, size }) => ({ path, size, depth: depthOf(path) }));
  for (const { path, size } of candidates.sort((one, other) => one.depth - other.depth)) {
    if (size > room) continue;
    room -= size;
    kept.add(path);
  }
  return kept;
}

/** From an uploaded archive to a plan: the strict checks, the detection, the advice. Errors of the source pass through. */
export async function inspect(source: ByteSource): Promise<Inspection> {
  try {
    const outcome = await analyzeArchive(source);
    if (!outcome.ok) return { ok: false, message: outcome.error.message, runtime: null };
    const { plan, suggestions, warnings } = outcome.analysis;
    return {
      ok: true,
      plan,
      suggestion: suggestionText(suggestions),
      warning: warningText(warnings),
      findings: suggestions,
    };
  } catch (error) {
    if (error instanceof ArchiveRefused) return { ok: false, message: error.message, runtime: null };
    throw error;
  }
}
