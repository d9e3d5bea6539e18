import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { finished, pipeline } from "node:stream/promises";
import { errorFields, log } from "../../lambdas/http/log.ts";
import type { ImageStore } from "./store.ts";

/** An error answer of the registry protocol. */
class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const manifestBytesMax = 4 * 1024 * 1024;
const digestPattern = /^sha256:[0-9a-f]{64}$/;
const paths = {
  upload: /^\/v2\/(?<name>[a-z0-9._/-]+)\/blobs\/uploads\/(?<id>[0-9a-f-]*)$/,
  blob: /^\/v2\/(?<name>[a-z0-9._/-]+)\/blobs\/(?<digest>sha256:[0-9a-f]{64})$/,
  manifest: /^\/v2\/(?<name>[a-z0-9._/-]+)\/manifests\/(?<reference>[\w.:-]{1,160})$/,
};

interface Call {
  store: ImageStore;
  request: IncomingMessage;
  response: ServerResponse;
  method: string;
  query: URLSearchParams;
}

const unknown = (what: string) => new Refused(404, `${what.toUpperCase()}_UNKNOWN`, `There is no such ${what}`);

async function answerBlob({ store, response, method }: Call, digest: string): Promise<void> {
  const size = store.sizeOf(digest);
  if (size === undefined) throw unknown("blob");
  response.writeHead(200, {
    "content-type": "application/octet-stream",
    "content-length": size,
    "docker-content-digest": digest,
  });
  if (method === "HEAD") response.end();
  else await pipeline(store.open(digest), response);
}

const created = ({ response }: Call, location: string, digest: string) =>
  response.writeHead(201, { location, "docker-content-digest": digest, "content-length": 0 }).end();

async function answerUpload(call: Call, name: string, id: string): Promise<void> {
  const { store, request, response, method, query } = call;
  const digest = query.get("digest") ?? query.get("mount") ?? "";
  const blobPath = `/v2/${name}/blobs/${digest}`;
  if (method === "POST") {
    // A layer of another repository is mounted instead of pushed.
    if (query.has("mount") && digestPattern.test(digest) && store.sizeOf(digest) !== undefined)
      return void created(call, blobPath, digest);
    const location = `/v2/${name}/blobs/uploads/${store.begin()}`;
    return void response.writeHead(202, { location, range: "0-0", "content-length": 0 }).end();
  }
  const size = await store.append(id, request.iterator({ destroyOnReturn: false }));
  if (size === undefined) throw unknown("blob_upload");
  if (method === "PATCH") {
    const location = `/v2/${name}/blobs/uploads/${id}`;
    return void response.writeHead(202, { location, range: `0-${Math.max(0, size - 1)}`, "content-length": 0 }).end();
  }
  if (!digestPattern.test(digest) || !store.finish(id, digest))
    throw new Refused(400, "DIGEST_INVALID", "The content has another digest");
  created(call, blobPath, digest);
}

async function answerManifest(call: Call, name: string, reference: string): Promise<void> {
  const { store, request, response, method } = call;
  if (method === "PUT") {
    if (Number(request.headers["content-length"] ?? 0) > manifestBytesMax)
      throw new Refused(413, "MANIFEST_INVALID", "The manifest is too large");
    const mediaType = request.headers["content-type"] ?? "";
    const stored = store.put(name, reference, { mediaType, bytes: await buffer(request) });
    if (!stored) throw new Refused(400, "MANIFEST_BLOB_UNKNOWN", "The manifest is invalid, or a layer is missing");
    return void created(call, `/v2/${name}/manifests/${stored.digest}`, stored.digest);
  }
  const found = store.manifest(name, reference);
  if (!found) throw unknown("manifest");
  response.writeHead(200, {
    "content-type": found.mediaType,
    "content-length": found.bytes.length,
    "docker-content-digest": found.digest,
  });
  response.end(method === "HEAD" ? undefined : found.bytes);
}

/** Whether a request has the user and the password of GetAuthorizationToken. */
function isAuthorized(request: IncomingMessage, password: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? "");
  const wanted = Buffer.from(`Basic ${Buffer.from(`AWS:${password}`).toString("base64")}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

async function answer(call: Call, path: string): Promise<void> {
  const { method, response, store } = call;
  if (path === "/v2/") return void response.writeHead(200, { "content-length": 2 }).end("{}");
  const [upload, blob, manifest] = [paths.upload, paths.blob, paths.manifest].map((one) => one.exec(path)?.groups);
  const name = (upload ?? blob ?? manifest)?.name;
  if (name === undefined) throw unknown("name");
  if (!store.exists(name)) throw unknown("name");
  const isRead = method === "GET" || method === "HEAD";
  if (upload && ["POST", "PATCH", "PUT"].includes(method)) return answerUpload(call, name, upload.id ?? "");
  if (blob && isRead) return answerBlob(call, blob.digest ?? "");
  if (manifest && (isRead || method === "PUT")) return answerManifest(call, name, manifest.reference ?? "");
  throw new Refused(405, "UNSUPPORTED", `${method} is not supported here`);
}

export interface Registry {
  /** `127.0.0.1:<port>`, the first part of the names of its images. */
  host: string;
  close(): Promise<void>;
}

/**
 * Starts the registry of the embedded ECR on 127.0.0.1: the calls of the registry protocol with which builders push and
 * engines pull (github.com/opencontainers/distribution-spec), for repositories that exist. Every call needs the password.
 */
export async function startRegistry(options: { store: ImageStore; password: string; port: number }): Promise<Registry> {
  const { store, password, port } = options;
  const server = createServer(async (request, response) => {
    try {
      const [path = "/", query = ""] = (request.url ?? "/").split(/\?(.*)/s, 2);
      if (!isAuthorized(request, password)) {
        response.setHeader("www-authenticate", 'Basic realm="slipway"');
        throw new Refused(401, "UNAUTHORIZED", "The password is missing or wrong");
      }
      const method = request.method ?? "GET";
      await answer({ store, request, response, method, query: new URLSearchParams(query) }, path);
    } catch (error) {
      if (!(error instanceof Refused) && !request.destroyed)
        log("error", "The embedded ECR failed", errorFields(error));
      if (response.headersSent) return void response.destroy();
      const { status, code, message } = error instanceof Refused ? error : failureOf(error);
      // A client that still sends would see a broken connection instead of this answer.
      if (!request.complete) await finished(request.resume()).catch(() => undefined);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ errors: [{ code, message }] }));
    }
  });
  // Layers of apps may take long on a slow disk.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The answer to a failure of the registry. A full disk has a status of its own, because builders do not show messages. */
function failureOf(error: unknown): { status: number; code: string; message: string } {
  const isFull = error instanceof Error && "code" in error && ["ENOSPC", "EDQUOT"].includes(String(error.code));
  return isFull
    ? { status: 507, code: "DENIED", message: "The disk of the data folder is full" }
    : { status: 500, code: "UNKNOWN", message: "The registry failed" };
}
