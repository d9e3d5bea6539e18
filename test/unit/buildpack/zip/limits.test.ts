import { describe, expect, it } from "vitest";
import { archiveLimits } from "../../../../buildpack/zip/limits.ts";
import { forge, unixLink } from "./forge.ts";
import { refusal } from "./opened.ts";
import type { Refusal } from "./refusals.ts";

const link = (name: string, data: string) => ({ name, data, ...unixLink });

describe("limits", () => {
  const limits = {
    ...archiveLimits,
    zippedBytesMax: 500,
    unpackedBytesMax: 100,
    entriesMax: 3,
    ratioFreeBytes: 50,
    ratioMax: 5,
  };
  const files = (count: number, name = (n: number) => `f${n}`) =>
    forge(Array.from({ length: count }, (_, n) => ({ name: name(n) })));

  it.each<Refusal>([
    ["a file over the size", Buffer.alloc(501), "too_large"],
    ["more entries", files(4), "too_many_entries"],
    ["more folders than entries are allowed", files(2, (n) => `${n}/x/y/f`), "too_many_entries"],
    [
      "more bytes unpacked",
      forge([
        { name: "x", data: "x".repeat(60) },
        { name: "y", data: "y".repeat(41) },
      ]),
      "unpacked_too_large",
      "y",
    ],
    ["a file that unpacks to far more", forge([{ name: "x", data: "x".repeat(99), deflate: true }]), "bomb", "x"],
  ])("%s is refused", async (_sentence, archive, rule, entry) => {
    const error = await refusal(archive, limits);
    expect({ rule: error.rule, entry: error.entry }).toEqual({ rule, entry });
  });

  it("a directory over its size is refused before it is read", async () => {
    const error = await refusal(files(3), { ...archiveLimits, directoryBytesMax: 100 });
    expect(error.rule).toBe("too_many_entries");
  });

  it("links whose targets are too long together are refused", async () => {
    const links = Array.from({ length: 3 }, (_, n) => link(`l${n}`, "target"));
    expect((await refusal(forge(links), { ...archiveLimits, linksTotalBytesMax: 17 })).rule).toBe("too_many_entries");
  });
});
