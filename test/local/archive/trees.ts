import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openArchive } from "../../../buildpack/zip/archive.ts";
import { type ExtractOptions, extractArchive } from "../../../local/archive/extract-archive.ts";
import { fileSource } from "../../../local/archive/file-source.ts";

/** A folder that is deleted after the test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "archive-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Everything in a folder by path: contents with "x" in front when executable, "-> target", or "/" for folders. */
export function treeOf(folder: string): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) tree[name] = `-> ${readlinkSync(path)}`;
    else if (stat.isDirectory()) tree[name] = "/";
    else tree[name] = `${(stat.mode & 0o111) === 0 ? "" : "x "}${readFileSync(path, "latin1")}`;
  }
  return tree;
}

/** Checks and unpacks an archive into a new folder. */
export async function extracted(path: string, options?: ExtractOptions): Promise<string> {
  const target = join(scratch(), "tree");
  mkdirSync(target);
  const source = fileSource(path);
  try {
    await extractArchive(await openArchive(source), target, options);
  } finally {
    source.close();
  }
  return target;
}
