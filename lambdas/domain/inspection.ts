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

/** The tree that analysis sees of an archive, every entry of which has been checked on the way. */
async function treeOf(source: ByteSource): Promise<SourceTree> {
  const archive = await openArchive(source);
  const contents = new Map<string, Uint8Array>();
  await archive.verify((entry, bytes) => void contents.set(entry.path, bytes), {
    wants: (entry) => wants(entry.path, entry.size),
  });
  const files = new Map<string, SourceFile>();
  for (const entry of archive.entries) {
    if (entry.kind === "directory" || isJunk(entry.path)) continue;
    const bytes = contents.get(entry.path);
    files.set(entry.path, {
      size: entry.size,
      kind: entry.kind,
      ...(bytes && { text: () => decodeText(bytes) }),
    });
  }
  return { files };
}

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
