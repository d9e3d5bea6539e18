import { existsSync } from "node:fs";
import { readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const compressed = /\.(html?|css|m?js|json|svg|xml|txt|wasm|webmanifest|ico|ttf|otf|md|csv|rss|atom)$/i;
/** Smaller files fit into one packet, so compression does not help. */
const bytesMin = 1024;
/** Up to four files of this size are in memory at the same time. */
const bytesMax = 16 * 1024 * 1024;
const atATime = 4;

/** A higher quality takes ten times as long and saves 2 % of the size. */
const brotliQuality = 9;

const encoders: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  ".br": (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  ".gz": (bytes) => promisify(gzip)(bytes, { level: 9 }),
};

/**
 * Prepares a built folder for serving: removes links that lead out of it, and writes brotli and gzip copies of text files.
 * Returns a sentence that describes the result. Throws if the build did not create the folder.
 */
export async function prepareFiles(folder: string): Promise<string> {
  if (!existsSync(folder)) {
    throw new Error(
      `The build did not write the folder ${folder}, whose files are to be served. Make the build script write its files there, or add a start script that serves them.`,
    );
  }
  const root = await realpath(folder);
  await removeLinks(root);
  const names = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = names
    .filter((name) => name.isFile() && compressed.test(name.name))
    .map((name) => join(name.parentPath, name.name));
  const before = new Set(names.map((name) => join(name.parentPath, name.name)));
  let written = 0;
  const left = paths.values();
  const work = async () => {
    for (const path of left) written += await compress(path, before);
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return `${names.filter((name) => name.isFile()).length} files to serve in ${folder}, ${written} of them compressed`;
}

/** Returns 1 if a compressed copy was written; copies that the build wrote are kept. */
async function compress(path: string, existing: ReadonlySet<string>): Promise<number> {
  const { size } = await stat(path);
  if (size < bytesMin || size > bytesMax) return 0;
  const bytes = await readFile(path);
  let count = 0;
  for (const [ending, encode] of Object.entries(encoders)) {
    if (existing.has(path + ending)) continue;
    const packed = await encode(bytes);
    if (packed.length > bytes.length * 0.9) break;
    await writeFile(path + ending, packed);
    count = 1;
  }
  return count;
}

/** Only this folder is in the image: a link that leads out of it is broken there, and a cyclic link never ends. */
async function removeLinks(root: string): Promise<void> {
  const names = await readdir(root, { recursive: true, withFileTypes: true });
  const links: { path: string; target: string; isFolder: boolean }[] = [];
  for (const name of names) {
    if (!name.isSymbolicLink()) continue;
    const path = join(name.parentPath, name.name);
    const target = await realpath(path).catch(() => "");
    const isInside = target.startsWith(root + sep);
    if (isInside) links.push({ path, target, isFolder: (await stat(target)).isDirectory() });
    else await rm(path);
  }
  const folders = links.filter(({ isFolder }) => isFolder);
  for (const { path, target } of folders) {
    if (folders.some((other) => other.path.startsWith(target + sep))) await rm(path);
  }
}
