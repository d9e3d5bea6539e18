import { existsSync, readFileSync } from "node:fs";
import { constants, crc32, deflateRawSync } from "node:zlib";
import { openArchive } from "../../../buildpack/zip/archive.ts";
import { ArchiveRefused } from "../../../buildpack/zip/refused.ts";
import type { ByteSource } from "../../../buildpack/zip/source.ts";
import { fileSource } from "../../../local/archive/file-source.ts";
import { endRecord, forge } from "../../unit/buildpack/zip/forge.ts";

/** The cost of checking an archive in a new process. */
export interface Measured {
  outcome: string;
  /** CPU time, which does not depend on other processes of the machine. */
  cpuMs: number;
  peakMiB: number;
}

const MiB = 1024 * 1024;

/** An archive of one file of `blocks` MiB that is never stored completely: each read repeats its one packed block. */
function oneLargeFile(blocks: number, noiseShare: number): ByteSource {
  const block = Buffer.alloc(MiB, "words that pack well ");
  for (let at = 0, state = 1; at < noiseShare * MiB; at += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    block.writeUInt32LE(state, at);
  }
  const packed = deflateRawSync(block, { finishFlush: constants.Z_FULL_FLUSH, level: 1 });
  const last = deflateRawSync(Buffer.alloc(0));
  let crc = 0;
  for (let index = 0; index < blocks; index += 1) crc = crc32(block, crc);
  const sizes = { crc, size: blocks * MiB, compressedSize: blocks * packed.length + last.length };
  const shell = forge([{ name: "large.bin", deflate: true, packed: Buffer.alloc(0), ...sizes }]);
  const head = shell.subarray(0, 39);
  const row = shell.subarray(39, -22);
  const directoryOffset = head.length + sizes.compressedSize;
  const end = endRecord({}, { entries: 1, directoryBytes: row.length, directoryOffset });
  const tail = Buffer.concat([last, row, end]);
  const bodyEnd = head.length + blocks * packed.length;
  const read = async (offset: number, length: number) => {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; ) {
      const place = offset + at;
      const [part, from] =
        place < head.length
          ? [head, place]
          : place < bodyEnd
            ? [packed, (place - head.length) % packed.length]
            : [tail, place - bodyEnd];
      at += part.copy(bytes, at, from);
    }
    return bytes;
  };
  return { size: bodyEnd + tail.length, read };
}

/** On Linux `maxRSS` includes the peak of the parent process; the process's own peak is in /proc. */
function peakMiB(): number {
  const status = existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "latin1") : "";
  const own = /VmHWM:\s*(\d+) kB/.exec(status)?.[1];
  return (own === undefined ? process.resourceUsage().maxRSS : Number(own)) / 1024;
}

async function measure(source: ByteSource): Promise<Measured> {
  const start = process.cpuUsage();
  let outcome = "accepted";
  try {
    await (await openArchive(source)).verify();
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error;
    outcome = error.rule;
  }
  const { user, system } = process.cpuUsage(start);
  return { outcome, cpuMs: (user + system) / 1000, peakMiB: peakMiB() };
}

if (import.meta.main) {
  const [path = "", blocks = "0", noiseShare = "0"] = process.argv.slice(2);
  const source = path === "-" ? oneLargeFile(Number(blocks), Number(noiseShare)) : fileSource(path);
  process.stdout.write(JSON.stringify(await measure(source)));
}
