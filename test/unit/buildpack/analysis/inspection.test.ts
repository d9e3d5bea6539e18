import { expect, test } from "vitest";
import { analyzeArchive, inspect } from "../../../../buildpack/analysis/inspection.ts";
import type { ByteSource } from "../../../../buildpack/zip/source.ts";
import { type ForgedEntry, forge, unixLink } from "../zip/forge.ts";
import { sourceOf } from "../zip/opened.ts";

const MiB = 1024 * 1024;
const filmBytes = 300 * MiB;
const manifest = { name: "package.json", data: '{"scripts":{"start":"node server.js"}}', deflate: true };
const server = { name: "server.js", data: 'fetch("http://localhost:4000/api");\n', deflate: true };
// Split in two, so that secret scanners do not report this file.
const leak = { name: "src/keys.json", data: `{\n"id": "${"AKIA"}${"Q3EGRLV7ZK2XWPD4"}"\n}`, deflate: true };

/** An archive with a film of 300 MiB between its first file and the others, and how many of its bytes have been read. */
function withFilm(others: readonly ForgedEntry[]): ByteSource & { bytesRead: number } {
  const film = { name: "media/film.mp4", data: "" };
  const lengthOf = (entry: ForgedEntry) => forge([entry]).indexOf("PK\u0001\u0002", 0, "latin1");
  const filmAt = lengthOf(manifest);
  const split = filmAt + lengthOf(film);
  let offset = split + filmBytes;
  const moved = others.map((entry) => {
    const central = { ...entry.central, offset };
    offset += lengthOf(entry);
    return { ...entry, central };
  });
  const sizes = { size: filmBytes, compressedSize: filmBytes };
  const bytes = forge([manifest, { ...film, local: sizes, central: sizes }, ...moved], { directoryOffset: offset });
  const source = {
    size: bytes.length + filmBytes,
    bytesRead: 0,
    async read(from: number, length: number) {
      source.bytesRead += length;
      const answer = Buffer.alloc(length);
      for (const [start, end, shift] of [[0, split, 0] as const, [split, bytes.length, filmBytes] as const]) {
        const first = Math.max(from, start + shift);
        const last = Math.min(from + length, end + shift);
        if (first < last) bytes.copy(answer, first - from, first - shift, last - shift);
      }
      return answer;
    },
  };
  return source;
}

test("an archive tells its plan, its advice and its committed secrets", async () => {
  const inspected = await inspect(sourceOf(forge([leak, manifest, server])));
  expect(inspected).toMatchObject({
    ok: true,
    plan: { start: "node server.js" },
  });
  expect(inspected.ok && inspected.findings.map(({ code, file, line }) => [code, file, line])).toEqual([
    ["committed_secret", "src/keys.json", 2],
    ["hardcoded_url", "server.js", 1],
  ]);
});

test("of an archive over 250 MB only the needed ranges are read, and the answer is the same", async () => {
  const source = withFilm([server, leak]);
  const large = await analyzeArchive(source);
  expect(source.bytesRead).toBeLessThan(2 * MiB);
  expect(large).toEqual(await analyzeArchive(sourceOf(forge([manifest, server, leak]))));
});

test.each<[string, ForgedEntry, string]>([
  ["a file that is read", { ...server, crc: 1 }, "does not have the checksum"],
  ["a header before it", { ...server, local: { name: "server.ts" } }, "is described differently in two places"],
  ["a link", { name: "shared", data: "../../etc", ...unixLink }, "is a link to a place outside the archive"],
])("what is read of an archive over 250 MB is checked: %s", async (_what, entry, sentence) => {
  const inspected = await inspect(withFilm([entry]));
  expect(inspected).toMatchObject({ ok: false, message: expect.stringContaining(sentence) });
});

test("a text in UTF-16 is looked through", async () => {
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(leak.data, "utf16le")]);
  const inspected = await inspect(sourceOf(forge([manifest, server, { name: leak.name, data: utf16 }])));
  expect(inspected.ok && inspected.findings[0]).toMatchObject({ code: "committed_secret", line: 2 });
});

test.each([10, 40])("a package.json of %d MiB in an archive is what it is in a folder", async (size) => {
  const data = JSON.stringify({ scripts: { start: "node server.js" }, filler: "y".repeat(size * MiB) });
  const inspected = await inspect(sourceOf(forge([{ name: "package.json", data, deflate: true }, server])));
  if (size < 32) expect(inspected).toMatchObject({ ok: true, plan: { start: "node server.js" } });
  else expect(inspected).toMatchObject({ ok: false, message: expect.stringContaining("larger than 32 MiB") });
});

test("as many secrets as fill an archive do not keep the analysis busy for long", async () => {
  const lines = `${leak.data}\n`.repeat(2_000);
  const files = Array.from({ length: 100 }, (_, index) => ({ name: `src/${index}.json`, data: lines, deflate: true }));
  const inspected = await inspect(sourceOf(forge([manifest, server, ...files])));
  expect(inspected.ok && inspected.findings).toHaveLength(6);
});

test("requirements that are included under any name are read from an archive as from a folder", async () => {
  const inspected = await inspect(
    sourceOf(
      forge([
        { name: "requirements.txt", data: "-r deps/prod.txt\n" },
        { name: "deps/prod.txt", data: "flask\ngunicorn\n" },
        { name: "app.py", data: "from flask import Flask\napp = Flask(__name__)\n" },
      ]),
    ),
  );
  expect(inspected).toMatchObject({ ok: true, findings: [], plan: { start: "gunicorn --bind 0.0.0.0:$PORT app:app" } });
});
