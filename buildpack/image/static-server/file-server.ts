import { existsSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import sirv from "sirv";
import { isHashed, keepOnlyOwnTags, narrowRange } from "./caching.ts";
import { acceptsPage, loadsAsFile } from "./navigation.ts";

// An ES module import reads every property of `node:http`, one of which loads undici: that is half of this program's start.
const http = process.getBuiltinModule("node:http");

type FileServer = Server<typeof IncomingMessage, typeof FileResponse>;
type Files = ReturnType<typeof sirv>;

interface Site {
  files: Files;
  folder: string;
  /** The page that is sent for a path without a file. */
  page: string;
}

const notFoundPage = "404.html";

/** A response with a file: sirv writes its status and headers, and this class adds the other headers that HTTP requires. */
class FileResponse extends http.ServerResponse {
  /** Set if a not-found page is sent. */
  isMissing = false;

  override writeHead(status: number, ...[first, second]: unknown[]): this {
    const headers = (typeof first === "string" ? second : first) ?? {};
    const typed = Object.entries(headers).map(([name, value]) => [
      name,
      name === "Content-Type" ? typeOf(value) : value,
    ]);
    return super.writeHead(status === 200 && this.isMissing ? 404 : status, Object.fromEntries(typed));
  }
}

function typeOf(type: unknown): string {
  const [name = ""] = String(type).split(";");
  if (name === "") return "application/octet-stream";
  return /^text\/|javascript$/.test(name) ? `${name}; charset=utf-8` : name;
}

/**
 * Serves the files that the folder contained when this server was created. A path without a file gets the folder's 404.html with status
 * 404, or else, for a browser navigation, the `fallback` page. Throws if the folder does not exist.
 */
export function fileServer(folder: string, fallback: string): FileServer {
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder} to serve.`);
  const files = sirv(folder, {
    etag: true,
    gzip: true,
    brotli: true,
    extensions: [],
    setHeaders: (response, path, { size, mtime }) => {
      narrowRange(response.req, size, mtime);
      response.removeHeader("etag");
      response.setHeader("cache-control", cacheControl(path));
      response.setHeader("accept-ranges", "bytes");
      response.setHeader("x-content-type-options", "nosniff");
      response.setHeader("vary", "accept-encoding");
    },
  });
  const page = existsSync(join(folder, notFoundPage)) ? notFoundPage : fallback;
  return http.createServer({ ServerResponse: FileResponse }, (request, response) => {
    endWithClient(request, response);
    answer({ files, folder, page }, request, response);
  });
}

const cacheControl = (path: string): string =>
  isHashed(path) && !path.endsWith(".html") ? "public, max-age=31536000, immutable" : "no-cache";

/** sirv pipes a file without handling errors: this handles a disconnected client, a HEAD request and an unreadable file. */
function endWithClient(request: IncomingMessage, response: FileResponse): void {
  response.once("pipe", (source) => {
    source.once("error", () => response.destroy());
    response.once("close", () => source.destroy());
    if (request.method !== "HEAD") return;
    source.destroy();
    response.end();
  });
}

function answer(site: Site, request: IncomingMessage, response: FileResponse): void {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    refuse(response, 405, "Method not allowed");
    return;
  }
  const [, encoded = "", query = ""] = /^\/*(\/[^?#]*)(\?[^#]*)?/.exec(request.url ?? "") ?? [];
  const path = decoded(encoded);
  if (path === undefined) {
    refuse(response, 400, "Bad request");
    return;
  }
  keepOnlyOwnTags(request, response);
  if (namesOf(path).some((name) => sends(site.files, name, request, response))) return;
  if (isFolder(site.folder, path)) {
    response.setHeader("location", `${encoded}/${query}`);
    refuse(response, 301, "Moved");
    return;
  }
  response.isMissing = site.page === notFoundPage;
  if (response.isMissing) forgetConditions(request);
  const mayBePage = acceptsPage(request.headers.accept) && (response.isMissing || !loadsAsFile(path));
  if (mayBePage && sends(site.files, `/${site.page}`, request, response)) return;
  refuse(response, 404, "Not found");
}

/** The candidate files for a path: the path itself, a folder's index page, or the path with ".html". */
function namesOf(path: string): string[] {
  if (path.split("/").includes("..")) return [];
  if (path.endsWith("/")) return [`${path}index.html`];
  return extname(path) === "" ? [path, `${path}.html`] : [path];
}

/** True for a folder with an index page: its address must end with a slash. */
const isFolder = (folder: string, path: string): boolean =>
  !path.endsWith("/") && !path.includes("/.") && existsSync(join(folder, path, "index.html"));

/** A fallback page is always sent completely. */
function forgetConditions({ headers }: IncomingMessage): void {
  delete headers.range;
  delete headers["if-none-match"];
}

/** The decoded path, undefined if it cannot be decoded. */
function decoded(encoded: string): string | undefined {
  try {
    const path = decodeURIComponent(encoded);
    return path === "" || path.includes("\0") ? undefined : path;
  } catch {
    return undefined;
  }
}

/** Sends a file with sirv. Returns false and sends nothing if the file does not exist. */
function sends(files: Files, path: string, request: IncomingMessage, response: FileResponse): boolean {
  let found = true;
  // sirv decodes a path again and cuts it at ? and #, so these are encoded.
  request.url = path.replace(/[%?#]/g, encodeURIComponent);
  files(request, response, () => {
    found = false;
  });
  return found;
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.removeHeader("etag");
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.setHeader("cache-control", "no-cache");
  response.statusCode = status;
  response.end(`${text}\n`);
}
