/**
 * The server of a single-page app's files, as the text of one self-contained module: it is written into the image. Files
 * with a hash in their name may be kept for ever, pages are asked for again each time; a navigation that meets no file
 * gets the fallback page.
 */
export const staticServer = String.raw`import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, resolve, sep } from "node:path";
import { pipeline } from "node:stream";

const root = await realpath(resolve(process.argv[2] ?? "dist"));
const fallback = process.argv[3] ?? "index.html";
const types = {
  ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8", ".json": "application/json", ".map": "application/json", ".txt": "text/plain; charset=utf-8",
  ".xml": "application/xml", ".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
  ".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif", ".ico": "image/x-icon", ".woff": "font/woff",
  ".woff2": "font/woff2", ".ttf": "font/ttf", ".otf": "font/otf", ".wasm": "application/wasm", ".pdf": "application/pdf",
  ".mp4": "video/mp4", ".webm": "video/webm", ".mp3": "audio/mpeg", ".webmanifest": "application/manifest+json",
};
const hash = /[.-]([\w-]{8}|[a-f0-9]{16}|[a-f0-9]{20}|[a-f0-9]{32}|[a-f0-9]{40}|[a-f0-9]{64})(\.chunk)?\.[a-z0-9]+(\.map)?$/;

/** Only what surely has its content's hash in its name may be kept for ever: a word of eight letters is none. */
function isHashed(path) {
  if (/\/(_astro|_next\/static|_app\/immutable)\//.test(path)) return true;
  const found = hash.exec(path)?.[1] ?? "";
  return /\d/.test(found) && /[A-Za-z]/.test(found) && (/^[a-f0-9]+$/.test(found) || /[A-Z]/.test(found));
}

async function fileAt(path) {
  try {
    const real = await realpath(path);
    if (real !== root && !real.startsWith(root + sep)) return undefined;
    const found = await stat(real);
    if (found.isDirectory()) {
      const page = await fileAt(join(real, "index.html"));
      return page && { ...page, directory: true };
    }
    return found.isFile() ? { path: real, size: found.size, time: found.mtimeMs } : undefined;
  } catch {
    return undefined;
  }
}

async function find(pathname, request) {
  let name;
  try {
    name = decodeURIComponent(pathname);
  } catch {
    return { status: 400 };
  }
  if (name.includes("\0")) return { status: 400 };
  const inside = join(root, name);
  if (inside !== root && !inside.startsWith(root + sep)) return { status: 404 };
  const hidden = name.split("/").some((part) => part.startsWith(".") && part !== ".well-known");
  const file = hidden ? undefined : (await fileAt(inside)) ?? (extname(name) === "" ? await fileAt(inside + ".html") : undefined);
  if (file?.directory && !name.endsWith("/")) return { status: 301 };
  if (file) return { status: 200, file };
  const navigation = (request.headers.accept ?? "").includes("text/html") || extname(name) === "";
  const page = navigation ? await fileAt(join(root, fallback)) : undefined;
  return page ? { status: 200, file: page } : { status: 404 };
}

async function encodedFile(file, accepted) {
  for (const [encoding, ending] of [["br", ".br"], ["gzip", ".gz"]]) {
    if (!accepted.includes(encoding)) continue;
    const found = await fileAt(file.path + ending);
    if (found) return { ...found, encoding };
  }
  return file;
}

function rangeOf(header, size) {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  if (!match || (match[1] === "" && match[2] === "")) return undefined;
  const start = match[1] === "" ? Math.max(0, size - Number(match[2])) : Number(match[1]);
  const end = match[1] === "" || match[2] === "" ? size - 1 : Math.min(Number(match[2]), size - 1);
  return { start, end };
}

async function answer(request, response) {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD" });
    return response.end();
  }
  const [, pathname, query = ""] = /^\/*(\/[^?#]*)(\?[^#]*)?/.exec(request.url) ?? [];
  const { status, file } = pathname === undefined ? { status: 400 } : await find(pathname, request);
  if (status === 301) {
    response.writeHead(301, { location: pathname + "/" + query, "cache-control": "no-cache" });
    return response.end();
  }
  if (!file) {
    response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-cache" });
    return response.end(status === 400 ? "Bad request\n" : "Not found\n");
  }
  const type = types[extname(file.path).toLowerCase()] ?? "application/octet-stream";
  const sent = await encodedFile(file, request.headers["accept-encoding"] ?? "");
  const etag = '"' + sent.size.toString(36) + "-" + Math.floor(sent.time).toString(36) + '"';
  const headers = {
    "content-type": type,
    etag,
    "last-modified": new Date(sent.time).toUTCString(),
    "cache-control": type.startsWith("text/html") || !isHashed(file.path) ? "no-cache" : "public, max-age=31536000, immutable",
    "x-content-type-options": "nosniff",
    vary: "accept-encoding",
    "accept-ranges": "bytes",
    ...(sent.encoding && { "content-encoding": sent.encoding }),
  };
  if ((request.headers["if-none-match"] ?? "").split(/\s*,\s*/).some((tag) => tag === etag || tag === "W/" + etag)) {
    response.writeHead(304, headers);
    return response.end();
  }
  const whole = sent.encoding || (request.headers["if-range"] ?? etag) !== etag;
  const range = whole ? undefined : rangeOf(request.headers.range, sent.size);
  if (range && (range.start > range.end || range.start >= sent.size)) {
    response.writeHead(416, { ...headers, "content-range": "bytes */" + sent.size });
    return response.end();
  }
  const length = range ? range.end - range.start + 1 : sent.size;
  response.writeHead(range ? 206 : 200, {
    ...headers,
    "content-length": length,
    ...(range && { "content-range": "bytes " + range.start + "-" + range.end + "/" + sent.size }),
  });
  if (request.method === "HEAD" || length === 0) return response.end();
  pipeline(createReadStream(sent.path, range), response, () => undefined);
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => {
    if (!response.headersSent) response.writeHead(500);
    response.end();
  });
});
server.listen(Number(process.env.PORT ?? 8080), process.env.HOST ?? "0.0.0.0", () => console.log("Serving files"));
process.on("SIGTERM", () => server.close(() => process.exit(0)));
`;
