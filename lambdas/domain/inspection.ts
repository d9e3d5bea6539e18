import type { Finding, Runtime } from "../../api/builds.ts";
import { analyzeWithSecrets } from "./analysis/analyze.ts";
import type { Plan } from "./analysis/plan.ts";
import { suggestionText, warningText } from "./analysis/report.ts";
import { decodeText, type SourceFile, type SourceTree, wants } from "./analysis/tree.ts";
import { openArchive } from "./zip/archive.ts";
import { isJunk } from "./zip/junk.ts";
import { ArchiveRefused } from "./zip/refused.ts";
import type { ByteSource } from "./zip/source.ts";

export type Inspection =
  | { ok: true; plan: Plan; suggestion: string | null; warning: string | null; findings: Finding[] }
  | { ok: false; message: string; runtime: Runtime | null };

/** The most that is kept of an archive's texts at once, in bytes; what is beyond is checked but not read for advice. */
const textBytesMax = 64 * 1024 * 1024;

/** The tree that analysis sees of an archive, every entry of which has been checked on the way. Throws ArchiveRefused. */
export async function treeOf(source: ByteSource): Promise<SourceTree> {
  const archive = await openArchive(source);
  const contents = new Map<string, Uint8Array>();
  let room = textBytesMax;
  const shallowFirst = [...archive.entries].sort((one, other) => depth(one.path) - depth(other.path));
  const wanted = new Set<string>();
  for (const entry of shallowFirst) {
    if (entry.kind !== "file" || !wants(entry.path, entry.size) || entry.size > room) continue;
    room -= entry.size;
    wanted.add(entry.path);
  }
  await archive.verify((entry, bytes) => void contents.set(entry.path, bytes), {
    wants: (entry) => wanted.has(entry.path),
  });
  const files = new Map<string, SourceFile>();
  for (const entry of archive.entries) {
    if (entry.kind === "directory" || isJunk(entry.path)) continue;
    const bytes = contents.get(entry.path);
    files.set(entry.path, {
      size: entry.size,
      kind: entry.kind,
      ...(bytes && { text: once(() => decodeText(bytes)) }),
    });
  }
  return { files };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const depth = (path: string) => path.split("/").length;

/** From an uploaded archive to a plan: the strict checks, the detection, the advice. Errors of the source pass through. */
export async function inspect(source: ByteSource): Promise<Inspection> {
  try {
    const tree = await treeOf(source);
    const outcome = await analyzeWithSecrets(tree);
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
