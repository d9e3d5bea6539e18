import { execFileSync } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scanSecrets } from "../../buildpack/analysis/secrets/scan.ts";
import { decodeText, type SourceFile, wants } from "../../buildpack/analysis/tree.ts";
import { openArchive } from "../../buildpack/zip/archive.ts";
import { fileSource } from "../../local/archive/file-source.ts";
import { fileCount, writeLongCommands, writeRepository } from "./analysis-archive.ts";
import { type Measured, median } from "./measure.ts";

const rounds = 5;
const MiB = 1024 * 1024;
const filmBytes = 300 * MiB;

interface Inspected {
  ms: number;
  peakMiB: number;
  bytesRead: number;
  error: string | null;
}

/** Runs one analysis in its own process, with the Node.js options of `npm start`. */
function inspectInProcess(path: string): Inspected {
  const script = join(import.meta.dirname, "inspect-process.ts");
  const options = ["--disable-warning=ExperimentalWarning", "--max-semi-space-size=4"];
  const { ms, peakMiB, bytesRead, error } = JSON.parse(
    execFileSync(process.execPath, [...options, script, path], { encoding: "utf8" }),
  );
  return { ms, peakMiB, bytesRead, error };
}

function unzipMs(path: string): number {
  const start = performance.now();
  execFileSync("unzip", ["-tqq", path], { stdio: "ignore" });
  return performance.now() - start;
}

/** The speed of the secret scan over all texts of an archive in memory, in MB per second. */
async function secretScanRate(path: string): Promise<{ rate: number; megabytes: number }> {
  const archive = await openArchive(fileSource(path));
  const files = new Map<string, SourceFile>();
  let bytesOfText = 0;
  const isWanted = ({ path, size }: { path: string; size: number }) => wants(path, size);
  await archive.verify(
    ({ path, size }, bytes) => {
      const text = decodeText(bytes);
      bytesOfText += size;
      files.set(path, { size, kind: "file", text: () => text });
    },
    { wants: isWanted },
  );
  const start = performance.now();
  await scanSecrets({ files });
  const megabytes = bytesOfText / 1e6;
  return { rate: megabytes / ((performance.now() - start) / 1000), megabytes };
}

/** Compares the analysis with `unzip -t` of the same archive, and measures an archive with 300 MiB of extra data; needs unzip. */
export async function benchAnalysis(): Promise<Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), "slipway-bench-"));
  try {
    const path = join(folder, "repository.zip");
    const large = join(folder, "large.zip");
    await writeRepository(path);
    await writeRepository(large, filmBytes);
    const ours: Inspected[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      ours.push(inspectInProcess(path));
      theirs.push(unzipMs(path));
    }
    const ofLarge = inspectInProcess(large);
    for (const { error } of [...ours, ofLarge]) if (error !== null) throw new Error(error);
    const long = join(folder, "long.zip");
    await writeLongCommands(long);
    return [
      ...comparisons(ours, theirs),
      ...largeOnes(ofLarge, (await stat(path)).size, (await stat(large)).size),
      longCommands(inspectInProcess(long)),
      await secretScan(path),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function comparisons(ours: readonly Inspected[], theirs: readonly number[]): Measured[] {
  const ms = median(ours.map((one) => one.ms));
  const peak = Math.max(...ours.map(({ peakMiB }) => peakMiB));
  const detail = `${ms.toFixed(0)} ms against ${median(theirs).toFixed(0)} ms; ${fileCount} files of 120 MB, medians of ${rounds}`;
  return [
    { name: "analysis: with all scans / unzip -t", ratio: ms / median(theirs), bound: 1.5, detail },
    { name: "analysis: memory / 256 MiB", ratio: peak / 256, bound: 1, detail: `${peak.toFixed(0)} MiB at most` },
  ];
}

function largeOnes({ bytesRead, peakMiB }: Inspected, needed: number, size: number): Measured[] {
  const inMB = (bytes: number) => (bytes / 1e6).toFixed(0);
  const read = `${inMB(bytesRead)} of ${inMB(size)} MB are read, of which ${inMB(needed)} are not film`;
  return [
    { name: "analysis: read of a large archive / needed", ratio: bytesRead / needed, bound: 1.05, detail: read },
    {
      name: "analysis: its memory / 256 MiB",
      ratio: peakMiB / 256,
      bound: 1,
      detail: `${peakMiB.toFixed(0)} MiB at most`,
    },
  ];
}

function longCommands({ ms, error }: Inspected): Measured {
  const detail = `${ms.toFixed(0)} ms for a Procfile and a script of 3 MB each: ${error?.slice(0, 60)}…`;
  return { name: "analysis: a command line of 3 MB / 1 s", ratio: ms / 1000, bound: 1, detail };
}

async function secretScan(path: string): Promise<Measured> {
  const { rate, megabytes } = await secretScanRate(path);
  const detail = `${rate.toFixed(0)} MB/s over ${megabytes.toFixed(0)} MB of text`;
  return { name: "analysis: 10 MB/s / secret scan", ratio: 10 / rate, bound: 1, detail };
}
