import { readFileSync } from "node:fs";
import { inspect } from "../../buildpack/analysis/inspection.ts";
import { fileSource } from "../../local/archive/file-source.ts";

/** Analyzes the archive of the command line once and prints the time, the peak memory and the bytes read. */
const source = fileSource(process.argv[2] ?? "");
let bytesRead = 0;
const counted = {
  size: source.size,
  read(offset: number, length: number) {
    bytesRead += length;
    return source.read(offset, length);
  },
};
const began = performance.now();
const inspected = await inspect(counted);
const ms = performance.now() - began;
const peakKiB = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
console.log(
  JSON.stringify({
    ms,
    peakMiB: peakKiB / 1024,
    bytesRead,
    size: source.size,
    findings: inspected.ok ? inspected.findings : [],
    error: inspected.ok ? null : inspected.message,
  }),
);
