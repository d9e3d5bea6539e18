import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";

/** Writes the archive of an app without dependencies that answers with this text. */
export async function writeApp(path: string, text: string): Promise<void> {
  const zip = new ZipFile();
  const manifest = { name: "bench", version: "1.0.0", private: true, scripts: { start: "node server.js" } };
  const lock = {
    name: "bench",
    version: "1.0.0",
    lockfileVersion: 3,
    requires: true,
    packages: { "": { name: "bench", version: "1.0.0" } },
  };
  zip.addBuffer(Buffer.from(JSON.stringify(manifest)), "package.json");
  zip.addBuffer(Buffer.from(JSON.stringify(lock)), "package-lock.json");
  zip.addBuffer(
    Buffer.from(
      `require("node:http").createServer((q, r) => r.end(${JSON.stringify(text)})).listen(process.env.PORT);`,
    ),
    "server.js",
  );
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}
