import { fc } from "../../../harness/fast-check.ts";
import { type ForgedEntry, forge, pack, unixFile, unixLink } from "./forge.ts";

const segment = fc.stringMatching(/^[a-z0-9_ .é日-]{1,12}$/u).filter((part) => !/^(?:\.+[. ]*$|\._)/.test(part));

const packing: fc.Arbitrary<Partial<ForgedEntry>> = fc.record({
  deflate: fc.boolean(),
  descriptor: fc.constantFrom(undefined, "honest", "unsigned", "wide", "wide-unsigned"),
});

const host = fc.constantFrom<Partial<ForgedEntry>>(unixFile, { madeBy: 20, external: 0x20 }, {}, { madeBy: 0x0a14 });

/** Any tree of files, packed in any of the ways that writers have; no path is the beginning of another. */
export const treeArbitrary: fc.Arbitrary<ForgedEntry[]> = fc
  .uniqueArray(
    fc.record({
      path: fc.array(segment, { minLength: 1, maxLength: 4 }),
      data: fc.oneof(fc.uint8Array({ maxLength: 2000 }), fc.string({ maxLength: 50 })),
      packing,
      host,
      announced: fc.constantFrom("both", "local"),
    }),
    { maxLength: 12, selector: ({ path }) => path.join("/").normalize("NFC").toUpperCase() },
  )
  .map((files) => {
    // A first part that is the number of the file keeps files and folders apart.
    return files.map(({ path, data, packing, host, announced }, index): ForgedEntry => {
      const name = `${index}-${path.join("/")}`;
      // Info-ZIP decodes a name from another host in its code page and ignores the UTF-8 flag.
      const madeOn = /^\p{ASCII}*$/u.test(name) ? host : unixFile;
      const flags = packing.descriptor ? 0x808 : 0x800;
      const central = announced === "local" ? { flags: 0x800 } : {};
      return { name, data: Buffer.from(data), flags, central, ...packing, ...madeOn };
    });
  });

/** Archives that together contain every structure that the reader supports. */
export function sampleArchives(name = "naïve.txt"): Record<string, Buffer> {
  const text = "the same words again and again and again and again";
  const plain = [
    { name: "src/", madeBy: 0x0314, external: 0o040755 * 0x10000 + 0x10 },
    { name: "src/index.ts", data: text, deflate: true, ...unixFile },
    { name: "src/link", data: "index.ts", ...unixLink },
    { name: "empty" },
    { name, data: "stored", flags: 0x800, ...unixFile },
  ];
  const streamed = (["honest", "unsigned", "wide", "wide-unsigned"] as const).map(
    (descriptor, index): ForgedEntry => ({
      name: `f${index}`,
      data: `${text}${index}`,
      deflate: index % 2 === 0,
      descriptor,
    }),
  );
  const sizes = Buffer.concat([pack([1, 2], [16, 2], [text.length, 8], [text.length, 8])]);
  const wide = { size: 0xffffffff, compressedSize: 0xffffffff, extra: sizes };
  return {
    "an archive": forge(plain, { comment: "a comment" }),
    "a streamed archive": forge(streamed),
    "a zip64 archive": forge([{ name: "wide", data: text, central: wide, local: wide }], {
      zip64: {},
      entries: 0xffff,
      entriesHere: 0xffff,
    }),
  };
}
