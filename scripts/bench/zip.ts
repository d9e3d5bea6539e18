import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import yazl from "yazl";
import { openArchive } from "../../buildpack/zip/archive.ts";
import { fileSource } from "../../local/archive/file-source.ts";

const fileCount = 20_000;
const unpackedBytes = 120 * 1000 * 1000;
const rounds = 3;

/** One measured ratio and its upper bound. */
export interface BenchResult {
  name: string;
  ratio: number;
  bound: number;
  detail: string;
}

/** The same bytes on every run: half source code, a quarter random bytes, a quarter repetitions. */
function contents(index: number): Buffer {
  const bytes = Math.round((unpackedBytes / fileCount) * (0.5 + (index % 101) / 100));
  const seed = createHash("sha256").update(`file ${index}`).digest();
  if (index % 4 === 0) return createHash("shake256", { outputLength: bytes }).update(seed).digest();
  if (index % 4 === 1) return Buffer.alloc(bytes, seed.toString("hex"));
  const words = createHash("shake256", { outputLength: Math.ceil(bytes / 6) })
    .update(seed)
    .digest();
  const text = Array.from(words, (word) => vocabulary[word % vocabulary.length]).join(" ");
  return Buffer.from(text.padEnd(bytes, text)).subarray(0, bytes);
}

const vocabulary = (
  "const return await import from export function interface type string number null undefined entry archive bytes " +
  "length offset index value result error throw new Map Set Buffer if else for of while case switch => { } ( ) ; ; = =="
).split(" ");

async function writeArchive(path: string): Promise<void> {
  const zip = new yazl.ZipFile();
  const mtime = new Date(2024, 0, 1);
  for (let index = 0; index < fileCount; index += 1) {
    const name = `app/part-${index % 97}/group-${index % 13}/module-${index}.ts`;
    zip.addBuffer(contents(index), name, { mtime, compress: index % 4 !== 0 });
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function verifyMs(path: string): Promise<number> {
  const start = performance.now();
  const source = fileSource(path);
  const archive = await openArchive(source);
  await archive.verify();
  source.close();
  return performance.now() - start;
}

function unzipMs(path: string): number {
  const start = performance.now();
  execFileSync("unzip", ["-tqq", path], { stdio: "ignore" });
  return performance.now() - start;
}

/** Compares full verification with `unzip -t` of the same archive (20,000 files, 120 MB); needs unzip. */
export async function benchZip(): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-zip-"));
  try {
    const path = join(folder, "bench.zip");
    await writeArchive(path);
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await verifyMs(path));
      theirs.push(unzipMs(path));
    }
    const detail = `verify ${median(ours).toFixed(0)} ms, unzip -t ${median(theirs).toFixed(0)} ms, medians of ${rounds}`;
    return [{ name: "zip: verify / unzip -t", ratio: median(ours) / median(theirs), bound: 1, detail }];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
