import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { expect, it } from "vitest";
import * as z from "zod";
import { type ForgedEntry, forge, manyFiles, unixLink } from "../../unit/buildpack/zip/forge.ts";
import type { Measured } from "./measured.ts";
import { scratch } from "./trees.ts";

const MiB = 1024 * 1024;
const child = join(import.meta.dirname, "measured.ts");
const report = z.object({ outcome: z.string(), cpuMs: z.number(), peakMiB: z.number() });

/** The heap limit that V8 chooses on a machine with 512 MB; on a large machine it would keep 100 MB of garbage. */
const heap = ["--max-old-space-size=256", "--max-semi-space-size=4"];

/** Checks an archive in its own process, so that the memory is only that of the check. */
function measured(args: string[]): Measured {
  return report.parse(JSON.parse(execFileSync(process.execPath, [...heap, child, ...args], { encoding: "utf8" })));
}

function measuredBytes(bytes: Buffer): Measured {
  const path = join(scratch(), "app.zip");
  writeFileSync(path, bytes);
  return measured([path]);
}

const zeros = deflateRawSync(Buffer.alloc(256 * MiB), { level: 1 });

/** The contents of each entry end with those of the last one, so 1,000 files share the bytes of one. */
function quoted(count: number): Buffer {
  const entries = Array.from({ length: count }, (_, index): ForgedEntry => {
    const after = (count - 1 - index) * (30 + 4) + zeros.length;
    const central = { size: 1900 * 1024, compressedSize: after };
    return { name: `${1000 + index}`, method: 8, packed: index === count - 1 ? zeros : Buffer.alloc(0), central };
  });
  return forge(entries);
}

const bombs: [string, () => Buffer, string][] = [
  [
    "a file that says 10 bytes and unpacks to 256 MiB",
    () => forge([{ name: "z", deflate: true, packed: zeros, size: 10 }]),
    "size_mismatch",
  ],
  [
    "a file that says 3 MiB and unpacks to 256 MiB",
    () => forge([{ name: "z", deflate: true, packed: zeros, size: 3 * MiB }]),
    "size_mismatch",
  ],
  [
    "a file that says 2 GiB and unpacks to 256 MiB",
    () =>
      forge([{ name: "z", deflate: true, packed: Buffer.concat([zeros, Buffer.alloc(5 * MiB)]), size: 2047 * MiB }]),
    "size_mismatch",
  ],
  [
    "a file that packs 1,000 to 1",
    () => forge([{ name: "z", deflate: true, packed: zeros, size: 1900 * MiB }]),
    "bomb",
  ],
  [
    "many files that are too large together",
    () => forge(Array.from({ length: 9 }, (_, n) => ({ name: `${n}`, deflate: true, packed: zeros, size: 256 * MiB }))),
    "unpacked_too_large",
  ],
  ["1,000 files out of the bytes of one", () => quoted(1000), "overlap"],
  ["more files than any directory may have", () => manyFiles(230_000, "long/".repeat(30)), "too_many_entries"],
  [
    "names that each make a thousand folders",
    () => forge(Array.from({ length: 500 }, (_, n) => ({ name: `${n}/${"d/".repeat(450)}f` }))),
    "too_many_entries",
  ],
  ["200,001 files", () => manyFiles(200_001), "too_many_entries"],
  [
    "an empty file out of 100 MiB",
    () =>
      forge([
        {
          name: "z",
          deflate: true,
          packed: Buffer.concat([
            Buffer.alloc(100 * MiB, Buffer.from([0, 0, 0, 0xff, 0xff])).subarray(0, 99_999_995),
            Buffer.from([3, 0]),
          ]),
          size: 0,
          crc: 0,
        },
      ]),
    "accepted",
  ],
  [
    "links through links",
    () =>
      forge(
        Array.from(
          { length: 2000 },
          (_, n): ForgedEntry => ({ name: `${"d/".repeat(100)}l${n}`, data: `${"l/".repeat(500)}`, ...unixLink }),
        ).concat({ name: `${"d/".repeat(100)}l`, data: ".", ...unixLink }),
      ),
    "accepted",
  ],
  ["very many folders in long names", () => manyFiles(40_000, "d/".repeat(450)), "accepted"],
];

const isEverything = process.env.SLIPWAY_TESTS === "all";
/** SLIPWAY_TESTS=all checks every archive; otherwise the first one of each outcome is short enough for each change. */
const checked = isEverything
  ? bombs
  : bombs.filter(([, , outcome], index) => index === bombs.findIndex((bomb) => bomb[2] === outcome));

it.each(checked)("%s is checked within 5 s of CPU time and 256 MiB", (_, archive, outcome) => {
  const result = measuredBytes(archive());
  expect(result.outcome).toBe(outcome);
  expect(result.cpuMs).toBeLessThan(5000);
  expect(result.peakMiB).toBeLessThan(256);
});

it("one file of 400 MiB is checked within 256 MiB", () => {
  const result = measured(["-", "400", "0.5"]);
  expect(result.outcome).toBe("accepted");
  expect(result.peakMiB).toBeLessThan(256);
});

// Much the same as above, for SLIPWAY_TESTS=all only.
it.runIf(isEverything)("an archive of nearly 512 MiB is checked within 256 MiB", () => {
  const result = measured(["-", "505", "1"]);
  expect(result.outcome).toBe("accepted");
  expect(result.peakMiB).toBeLessThan(256);
});

it.runIf(isEverything)("200,000 files are checked within 256 MiB", () => {
  const bytes = manyFiles(200_000, "project/node_modules/package/lib/", { data: "module.exports = 1", deflate: true });
  const result = measuredBytes(bytes);
  expect(result.outcome).toBe("accepted");
  expect(result.peakMiB).toBeLessThan(256);
});
