import { randomBytes } from "node:crypto";
import { masker } from "../../lambdas/builds/model/mask.ts";
import type { Measured } from "./measure.ts";

const KiB = 1024;
const budgetMs = 100;
const rounds = 5;

const lines = Array.from(
  { length: 1000 },
  (_, index) =>
    `GET /items/${index}?page=%20${index}+1 200 {"level":"info","agent":"a \\"b\\" c"} ${"words ".repeat(15)}`,
);
const randomValue = (bytes: number) => randomBytes((bytes / 4) * 3).toString("base64");
const inLines = (value: string) => value.match(/.{1,64}/g)?.join("\n") ?? "";

/** The CPU time of a run in milliseconds, which does not count other processes. */
function busyMs(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Masks the lines, five of which contain a value; returns the shortest time in ms, with the creation of the masker. */
function maskMs(values: readonly string[], named: readonly string[]): number {
  const written = lines.map((line, index) => (index % 200 === 0 ? `${line} ${named[index % named.length]}` : line));
  const times = Array.from({ length: rounds }, () =>
    busyMs(() => {
      const masked = written.map(masker(values));
      if (!masked[0]?.endsWith(" [masked]")) throw new Error("A value was not masked");
    }),
  );
  // Other processes can only make a run longer.
  return Math.min(...times);
}

/** Masks the same lines with one pass per line of each value. */
function passPerValueMs(values: readonly string[]): number {
  const parts = values.flatMap((value) => value.split("\n"));
  return busyMs(() => {
    for (const line of lines) {
      let text = line;
      for (const part of parts) text = text.replaceAll(part, "[masked]");
    }
  });
}

/** Compares the masking of 1,000 lines with 100 ms. */
export async function benchMasking(): Promise<Measured[]> {
  const large = Array.from({ length: 500 }, () => randomValue(32 * KiB));
  const largeMs = maskMs(large, large);
  const keys = Array.from({ length: 32 }, () => inLines(randomValue(31 * KiB)));
  const keysMs = maskMs(
    keys,
    keys.map((key) => key.split("\n")[7] ?? ""),
  );
  const naiveMs = passPerValueMs(keys);
  return [
    {
      name: "masking: 1,000 lines, 500 values of 32 KiB / 100 ms",
      ratio: largeMs / budgetMs,
      bound: 1,
      detail: `${largeMs.toFixed(0)} ms, the automaton's making included`,
    },
    {
      name: "masking: 1,000 lines, 1 MiB of keys in lines / a pass for each line of a key",
      ratio: keysMs / naiveMs,
      bound: 0.1,
      detail: `${keysMs.toFixed(0)} ms against ${naiveMs.toFixed(0)} ms`,
    },
  ];
}
