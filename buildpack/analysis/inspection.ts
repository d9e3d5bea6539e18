import type { Detected, Finding, Runtime } from "../../api/build.ts";
import { noSettings, type Settings } from "../../api/stored-settings.ts";
import { openArchive } from "../zip/archive.ts";
import type { ArchiveEntry } from "../zip/entry.ts";
import { ArchiveRefused } from "../zip/refused.ts";
import type { ByteSource } from "../zip/source.ts";
import { type OnFile, packedBytes } from "../zip/visitors.ts";
import { analyze, withSecrets } from "./analyze.ts";
import { wrapperOf } from "./app.ts";
import type { AnalysisOutcome, Plan, Suggestion } from "./plan.ts";
import { suggestionText, warningText } from "./report.ts";
import { inOrder, mayHoldSecrets, secretsOf } from "./secrets/scan.ts";
import { namesLocalUrl } from "./suggestions/local-urls.ts";
import { decodeText, depthOf, isForDetection, isJunk, type SourceFile, wants } from "./tree.ts";

export type Inspection =
  | {
      ok: true;
      plan: Plan;
      settings: Settings;
      suggestion: string | null;
      warning: string | null;
      findings: Finding[];
      detected: Detected;
    }
  | { ok: false; message: string; runtime: Runtime | null };

const MiB = 1024 * 1024;

/** The maximum size of the texts kept for detection, in bytes; other texts are only searched for secrets. */
const keptBytesMax = { packed: 48 * MiB, unpacked: 256 * MiB };

/** The maximum size of the text that is searched for secrets, in bytes. Real apps stay far below it. */
const suspectBytesMax = 64 * MiB;

/** Above this size, in bytes, only the parts of an archive that the analysis needs are read. */
const readWholeBytesMax = 250_000_000;

/**
 * Analyzes an archive and searches it for committed secrets. Every byte of an archive of up to 250 MB is checked. In a larger
 * one, the directory, the links and the files that are read are checked; the image build checks the rest. Throws
 * ArchiveRefused; errors of the source pass through.
 */
export async function analyzeArchive(source: ByteSource, project: Settings = noSettings): Promise<AnalysisOutcome> {
  const archive = await openArchive(source);
  const tree = treeOf(archive.entries);
  const wrapper = wrapperOf(tree).length;
  const wanted = new Set(archive.entries.filter(({ kind, path, size }) => kind === "file" && wants(path, size)));
  const kept = keptPaths([...wanted]);
  const secrets: Suggestion[] = [];
  let suspectBytes = 0;
  const take: OnFile = ({ path }, bytes, pack) => {
    const text = decodeText(bytes);
    if (text === undefined) return undefined;
    if (kept.has(path)) keep(tree, path, text, pack());
    const shown = path.slice(wrapper);
    if (suspectBytes > suspectBytesMax || !mayHoldSecrets(shown, text)) return undefined;
    suspectBytes += bytes.length;
    return secretsOf(shown, text).then((found) => void secrets.push(...found));
  };
  const isWanted = (entry: ArchiveEntry) => wanted.has(entry);
  if (source.size > readWholeBytesMax) await archive.verifySelected(isWanted, take);
  else await archive.verify(take, { wants: isWanted });
  return withSecrets(analyze(tree, project), inOrder(secrets));
}

type Tree = { files: Map<string, SourceFile> };

function treeOf(entries: readonly ArchiveEntry[]): Tree {
  const files = new Map<string, SourceFile>();
  for (const { path, kind, size } of entries) {
    if (kind !== "directory" && !isJunk(path)) files.set(path, { size, kind });
  }
  return { files };
}

/** Gives a file of the tree its text, which is decompressed each time detection reads it: detection reads only a few files. */
function keep({ files }: Tree, path: string, text: string, unpack: () => Uint8Array): void {
  const file = files.get(path);
  const mayNameLocalUrl = namesLocalUrl(text);
  if (file) files.set(path, { ...file, mayNameLocalUrl, text: () => decodeText(unpack()) });
}

/** The files that are kept for detection: those nearest the top level first, until the limit is reached. */
function keptPaths(wanted: readonly ArchiveEntry[]): ReadonlySet<string> {
  const kept = new Set<string>();
  const room = { ...keptBytesMax };
  const candidates = wanted
    .filter(({ path }) => isForDetection(path))
    .map((entry) => ({ entry, depth: depthOf(entry.path) }))
    .sort((one, other) => one.depth - other.depth);
  for (const { entry } of candidates) {
    const packed = packedBytes(entry);
    if (packed > room.packed || entry.size > room.unpacked) continue;
    room.packed -= packed;
    room.unpacked -= entry.size;
    kept.add(entry.path);
  }
  return kept;
}

/** Checks an uploaded archive, detects its plan and collects suggestions. Errors of the source pass through. */
export async function inspect(source: ByteSource, project: Settings = noSettings): Promise<Inspection> {
  try {
    const outcome = await analyzeArchive(source, project);
    if (!outcome.ok) return { ok: false, message: outcome.error.message, runtime: outcome.runtime };
    const { plan, suggestions, warnings } = outcome.analysis;
    return {
      ok: true,
      plan,
      settings: outcome.settings,
      suggestion: suggestionText(suggestions),
      warning: warningText(warnings),
      findings: [...suggestions, ...outcome.findings],
      detected: outcome.detected,
    };
  } catch (error) {
    if (error instanceof ArchiveRefused) return { ok: false, message: error.message, runtime: null };
    throw error;
  }
}
