import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";

/** Writes an archive of these files, and returns its path. */
export async function zipFile(path: string, files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
  return path;
}

/** Writes the archive of an app without dependencies that answers with this text. */
export async function writeApp(path: string, text: string): Promise<void> {
  const manifest = { name: "bench", version: "1.0.0", private: true, scripts: { start: "node server.js" } };
  const lock = {
    name: "bench",
    version: "1.0.0",
    lockfileVersion: 3,
    requires: true,
    packages: { "": { name: "bench", version: "1.0.0" } },
  };
  await zipFile(path, {
    "package.json": JSON.stringify(manifest),
    "package-lock.json": JSON.stringify(lock),
    "server.js": `require("node:http").createServer((q, r) => r.end(${JSON.stringify(text)})).listen(process.env.PORT);`,
  });
}
