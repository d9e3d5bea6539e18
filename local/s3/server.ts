import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { AnswerLost, type Faults } from "../aws/call-faults.ts";
import type { Keys } from "../aws/signature/verify.ts";
import { kindS3, type S3Behavior } from "./behavior.ts";
import { corsHeaders, preflight } from "./cors.ts";
import { errorDocument, S3Error } from "./errors.ts";
import { runOperation } from "./operations/operations.ts";
import { findObject } from "./operations/read-object.ts";
import { type S3Reply, sendReply } from "./reply.ts";
import { authenticate, type BucketSettings, parseTarget, type RequestOptions } from "./request.ts";
import type { ObjectCreated } from "./store/object-created.ts";
import { type ObjectStore, openStore } from "./store/store.ts";

export interface S3Options {
  /** The folder of all objects; only one server may use it at a time. */
  dir: string;
  port?: number;
  credentials: Keys;
  region: string;
  buckets: BucketSettings[];
  /** Called at least once for each PUT and COPY, also after a crash; a rejection is retried with back-off. */
  onObjectCreated: (event: ObjectCreated) => Promise<void>;
  now?: () => Date;
  /** The bucket policy: the principals that may send requests. Default: every principal with a valid signature. */
  mayUse?: (principalArn: string) => boolean;
  faults?: Faults | undefined;
  /** When each event is delivered; default: once, at once. */
  behavior?: S3Behavior | undefined;
  /** Called for rejected event deliveries and for errors that are answered with InternalError. */
  onError?: (error: unknown) => void;
}

export interface S3Server {
  endpoint: string;
  port: number;
  /** Opens an object for the other embedded services; the caller closes the descriptor. Throws S3Error. */
  open(bucket: string, key: string, versionId?: string): number;
  /** Aborts running uploads and stops deliveries; undelivered events are kept. */
  close(): Promise<void>;
}

interface Context extends RequestOptions {
  store: ObjectStore;
  faults: Faults | undefined;
  onError: (error: unknown) => void;
}

const idleConnectionMs = 120_000;
const closingGraceMs = 1000;

async function reply(
  http: IncomingMessage,
  requestId: string,
  sendContinue: () => void,
  context: Context,
): Promise<S3Reply> {
  const target = parseTarget(http.url ?? "/");
  if (http.method === "OPTIONS") return preflight(http, context.buckets.get(target.bucket));
  const body = () => {
    sendContinue();
    // The reader must not close the connection, because a refused upload still gets its answer.
    return http.iterator({ destroyOnReturn: false });
  };
  const request = authenticate(http, target, { requestId, body }, context);
  return runOperation(request, context.store, context.buckets, context.faults);
}

function errorReply(error: unknown, requestId: string, onError: (error: unknown) => void): S3Reply {
  if (!(error instanceof S3Error)) onError(error);
  const known = error instanceof S3Error ? error : new S3Error("InternalError");
  return { status: known.status, headers: known.headers, body: errorDocument(known, requestId) };
}

async function handle(http: IncomingMessage, response: ServerResponse, expects100: boolean, context: Context) {
  let isWaiting = expects100;
  const sendContinue = () => {
    if (isWaiting) response.writeContinue();
    isWaiting = false;
  };
  const requestId = randomBytes(8).toString("hex").toUpperCase();
  const bucket = context.buckets.get((http.url ?? "/").split(/[/?]/, 2)[1] ?? "");
  response.setHeader("x-amz-request-id", requestId);
  for (const [name, value] of Object.entries(corsHeaders(http, bucket))) response.setHeader(name, value);
  const isHead = http.method === "HEAD";
  try {
    const isAborted = () => http.destroyed && !http.complete;
    const answer = await reply(http, requestId, sendContinue, context).catch((error) => {
      if (error instanceof AnswerLost) throw error;
      return errorReply(error, requestId, isAborted() ? () => {} : context.onError);
    });
    await sendReply(response, answer, isHead);
    // The rest of a refused body is read and discarded, so that the client can send its next request.
    http.resume();
  } catch {
    // The client has disconnected, the file was too short, or the answer is lost: this connection gets no valid answer.
    response.destroy();
  }
}

function listen(server: Server, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server.address() as AddressInfo));
  });
}

/** Starts the local S3: path-style URLs, Signature Version 4 on every request, versions, streaming, object events. */
export async function startS3(options: S3Options): Promise<S3Server> {
  const { dir, region, credentials, onObjectCreated } = options;
  const now = options.now ?? (() => new Date());
  const onError = options.onError ?? (() => {});
  const { faults, behavior = kindS3 } = options;
  const store = await openStore({ dir, region, now, onObjectCreated, onError, behavior });
  const buckets = new Map(options.buckets.map((bucket) => [bucket.name, bucket]));
  const mayUse = options.mayUse ?? (() => true);
  const context: Context = { buckets, credentials, region, now, mayUse, store, faults, onError };

  const active = new Set<Promise<void>>();
  const serve = (http: IncomingMessage, response: ServerResponse, expects100: boolean) => {
    const handled = handle(http, response, expects100, context);
    active.add(handled);
    void handled.finally(() => active.delete(handled));
  };
  const server = createServer((http, response) => serve(http, response, false));
  // "100 Continue" is sent only after the signature has been verified.
  server.on("checkContinue", (http, response) => serve(http, response, true));
  server.keepAliveTimeout = 60_000;
  server.headersTimeout = 60_000;
  // An upload has no time limit; only an idle connection is closed.
  server.requestTimeout = 0;
  server.timeout = idleConnectionMs;

  const { port } = await listen(server, options.port ?? 0).catch((error: unknown) => {
    store.close();
    throw error;
  });
  store.resumeDeliveries();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    open: (bucket, key, versionId) => store.blobs.open(findObject(store, bucket, key, versionId ?? null).blob),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      const grace = new Promise<void>((resolve) => setTimeout(resolve, closingGraceMs).unref());
      await Promise.race([Promise.all(active), grace]);
      store.close();
    },
  };
}
