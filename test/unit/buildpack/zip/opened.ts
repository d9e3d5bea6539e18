import { type Archive, openArchive } from "../../../../buildpack/zip/archive.ts";
import type { ArchiveEntry } from "../../../../buildpack/zip/entry.ts";
import { type ArchiveLimits, archiveLimits } from "../../../../buildpack/zip/limits.ts";
import { ArchiveRefused } from "../../../../buildpack/zip/refused.ts";
import type { ByteSource } from "../../../../buildpack/zip/source.ts";

/** Bytes in memory as a source; like a bucket, it has no empty ranges. */
export function sourceOf(bytes: Uint8Array): ByteSource {
  const read = async (offset: number, length: number) => {
    if (length === 0) throw new RangeError("a range is never empty");
    return bytes.subarray(offset, offset + length);
  };
  return { size: bytes.length, read };
}

/** Opens and verifies, and gives the contents of all files by path. */
export async function verified(
  bytes: Uint8Array,
  limits: ArchiveLimits = archiveLimits,
): Promise<{ archive: Archive; files: Map<string, string>; entries: Map<string, ArchiveEntry> }> {
  const archive = await openArchive(sourceOf(bytes), limits);
  const files = new Map<string, string>();
  await archive.verify((entry, contents) => void files.set(entry.path, Buffer.from(contents).toString("latin1")));
  return { archive, files, entries: new Map(archive.entries.map((entry) => [entry.path, entry])) };
}

/** The refusal from opening or verifying the archive; any other result fails the test. */
export async function refusal(bytes: Uint8Array, limits?: ArchiveLimits): Promise<ArchiveRefused> {
  try {
    await verified(bytes, limits);
  } catch (error) {
    if (error instanceof ArchiveRefused) return error;
    throw error;
  }
  throw new Error("the archive was accepted");
}

/** Like a bucket: each read takes some time and is recorded. */
export function remote(
  bytes: Buffer,
): ByteSource & { reads: [number, number][]; inFlight: number; inFlightMost: number } {
  const noted = {
    size: bytes.length,
    reads: [] as [number, number][],
    inFlight: 0,
    inFlightMost: 0,
    async read(offset: number, length: number) {
      noted.reads.push([offset, length]);
      noted.inFlight += 1;
      noted.inFlightMost = Math.max(noted.inFlightMost, noted.inFlight);
      await new Promise((resolve) => setTimeout(resolve, offset === 0 ? 1 : 10));
      noted.inFlight -= 1;
      return bytes.subarray(offset, offset + length);
    },
  };
  return noted;
}
