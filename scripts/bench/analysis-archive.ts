import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import yazl from "yazl";

export const fileCount = 20_000;
const mtime = new Date(2024, 0, 1);

/** Pseudo-random bytes that are the same on every run. */
function noise(seed: string, length: number): Buffer {
  return createHash("shake256", { outputLength: length }).update(seed).digest();
}

const nouns = "order invoice customer session report account image product cart payment address message".split(" ");
const verbs = "load save find update remove render format validate publish merge parse collect".split(" ");

/** A few lines of realistic code per language. */
const paragraphs: Record<string, (noun: string, verb: string, number: number) => string> = {
  ts: (noun, verb, n) =>
    `/** ${verb} the ${noun} and everything below it; see https://docs.example.com/${noun}/${n}. */\n` +
    `export async function ${verb}${noun}${n}(id: string, options: { limit?: number } = {}): Promise<${noun}Row[]> {\n` +
    `  const response = await fetch(\`\${apiBase}/v1/${noun}s/\${id}?limit=\${options.limit ?? ${n % 90}}\`);\n` +
    `  if (!response.ok) throw new Error("${noun} could not be ${verb}ed: " + response.status);\n` +
    "  // The service answers newest first, which is not what the table shows.\n" +
    `  return (await response.json()).items.map((item: ${noun}Row) => ({ ...item, total: item.price * ${n} }));\n}\n\n`,
  js: (noun, verb, n) =>
    `router.post("/${noun}s/:id/${verb}", async (request, response) => {\n` +
    `  const { id } = request.params; // ${n}\n` +
    `  const found = await db.query("select * from ${noun}s where id = $1 and state <> 'gone'", [id]);\n` +
    `  if (found.rows.length === 0) return response.status(404).json({ error: "no such ${noun}" });\n` +
    `  response.json(${verb}(found.rows[0], process.env.${noun.toUpperCase()}_URL || "/"));\n});\n\n`,
  py: (noun, verb, n) =>
    `def ${verb}_${noun}_${n}(session, ${noun}_id: int) -> dict:\n    """${verb} one ${noun}, or raise."""\n` +
    `    row = session.query(models.${noun}).filter_by(id=${noun}_id).one_or_none()\n` +
    `    if row is None:\n        raise LookupError("${noun} %s is not there" % ${noun}_id)\n` +
    `    return {"id": row.id, "name": row.name, "weight": row.weight * ${n}}\n\n\n`,
  json: (noun, verb, n) =>
    `    { "id": ${n}, "${noun}": "${verb} ${n}", "at": "2024-05-${10 + (n % 20)}T08:00:00Z", "tags": ["${noun}", "${verb}"] },\n`,
  html: (noun, verb, n) =>
    `<section id="${noun}-${n}"><h2>${verb} ${noun}</h2><a href="/${noun}s/${n}">Number ${n}</a></section>\n`,
  css: (noun, verb, n) => `.${noun}-${verb}-${n} { margin: 0 ${n % 32}px; color: #${(n * 7919).toString(16)}; }\n`,
};
const endings = ["ts", "ts", "ts", "js", "py", "json", "html", "css"] as const;

function text(ending: string, index: number, length: number): Buffer {
  const numbers = noise(`text ${index}`, 3 * Math.ceil(length / 60));
  let written = ending === "json" ? '{ "items": [\n' : "";
  for (let at = 0; written.length < length; at += 3) {
    const [one = 0, two = 0, three = 0] = numbers.subarray(at, at + 3);
    written += paragraphs[ending]?.(nouns[one % 12] ?? "", verbs[two % 12] ?? "", three) ?? "";
  }
  return Buffer.from(ending === "json" ? `${written}    null\n] }\n` : written);
}

/**
 * Writes the zip of a realistic repository, the same on every run: 20,000 files with 120 MB in total. 80 % are text
 * (code, data, pages), 20 % are pictures that cannot be compressed. `extraBytes` of such data are added.
 */
export async function writeRepository(path: string, extraBytes = 0): Promise<void> {
  const zip = new yazl.ZipFile();
  const manifest = { name: "bench", version: "1.0.0", private: true, scripts: { start: "node src/server.js" } };
  zip.addBuffer(Buffer.from(JSON.stringify(manifest)), "package.json", { mtime });
  zip.addBuffer(Buffer.from('require("node:http").createServer().listen(process.env.PORT);\n'), "src/server.js", {
    mtime,
  });
  for (let index = 0; index < fileCount - 2; index += 1) {
    const folder = `src/${nouns[index % 12]}/${verbs[index % 11]}-${index % 131}`;
    const length = Math.round(6_000 * (0.5 + (index % 101) / 100));
    if (index % 10 >= 8)
      zip.addBuffer(noise(`picture ${index}`, length), `${folder}/picture-${index}.png`, { mtime, compress: false });
    else {
      const ending = endings[index % 8] ?? "ts";
      zip.addBuffer(text(ending, index, length), `${folder}/part-${index}.${ending}`, { mtime });
    }
  }
  const extra = 16 * 1024 * 1024;
  for (let made = 0; made < extraBytes; made += extra) {
    zip.addBuffer(noise(`film ${made}`, extra), `media/film-${made}.bin`, { mtime, compress: false });
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}

/** Writes an app whose Procfile (many commands) and start script (unclosed quotes) have 3 MB each. */
export async function writeLongCommands(path: string): Promise<void> {
  const zip = new yazl.ZipFile();
  const bytes = 3_000_000;
  zip.addBuffer(Buffer.from(`web: ${"a>&b && (c;".repeat(bytes / 11)}`), "Procfile");
  const start = `node "${"x 'y ".repeat(bytes / 5)}`;
  zip.addBuffer(Buffer.from(JSON.stringify({ scripts: { start } })), "package.json");
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}
