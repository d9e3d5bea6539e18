import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { ClientRequest } from "node:http";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ConnectionError, connectionCode, SlipwayError } from "./errors.ts";
import { requestFunction } from "./node-request.ts";
import { parseRetryAfter, type Sleep, sleepFor, withRetries } from "./retry.ts";

/** A file's path, bytes, or a stream whose length in bytes is known. */
export type ArchiveSource = string | Uint8Array | Blob | { stream: Readable; size: number };

export interface UploadOptions {
  onProgress?: (progress: { sentBytes: number; totalBytes: number }) => void;
  signal?: AbortSignal;
  /** `application/zip` when not given; a stored file is uploaded with its own MIME type. */
  contentType?: string;
  sleep?: Sleep;
}

const attemptsMax = 3;
const silenceSecondsMax = 120;
/** As long as the AWS SDKs wait: a server that does not support `Expect` then gets the body anyway. */
const continueSecondsMax = 1;
/** As in the AWS SDKs: asking first costs a round trip, which is more than a small body that is refused. */
const expectBytesMin = 2 * 1024 ** 2;
const answerBytesMax = 64 * 1024;

/**
 * Puts an archive to its upload address, streaming from disk, without any credential of the service. A file is sent again when the
 * connection breaks, and so are bytes; a stream is not. Rejects with SlipwayError (`network`, `timeout`, `upload_refused`), which never shows the address.
 */
export async function uploadArchive(url: string, source: ArchiveSource, options: UploadOptions = {}): Promise<void> {
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new TypeError("The upload address is not an http address.");
  const { signal, sleep = sleepFor } = options;
  signal?.throwIfAborted();
  const address = new URL(url);
  if (isStream(source)) return put(address, source, options);
  const size = await sizeOf(source);
  const attempt = () => put(address, { stream: read(source), size }, options);
  await withRetries(attempt, { attemptsMax, sleep, signal, isRetryable: mayBeRetried });
}

type Repeatable = string | Uint8Array | Blob;

function isStream(source: ArchiveSource): source is { stream: Readable; size: number } {
  return typeof source === "object" && "stream" in source && typeof source.stream === "object";
}

async function sizeOf(source: Repeatable): Promise<number> {
  if (typeof source === "string") return (await stat(source)).size;
  return source instanceof Blob ? source.size : source.byteLength;
}

function read(source: Repeatable): Readable {
  if (typeof source === "string") return createReadStream(source);
  return source instanceof Blob ? Readable.from(source.stream()) : Readable.from([source]);
}

/** S3 asks for a retry with 500 and 503 alike, and an interrupted upload stores nothing. */
function mayBeRetried(error: unknown): error is SlipwayError {
  return error instanceof SlipwayError && (error.status === undefined || error.status === 429 || error.status >= 500);
}

async function put(address: URL, source: { stream: Readable; size: number }, options: UploadOptions): Promise<void> {
  const { stream, size } = source;
  const { onProgress, signal, contentType = "application/zip" } = options;
  const request = await requestFunction(address.href);
  const asksFirst = size >= expectBytesMin;
  const headers = {
    "content-type": contentType,
    "content-length": size,
    ...(asksFirst && { expect: "100-continue" }),
  };
  const outgoing = request(address, { method: "PUT", headers, ...(signal && { signal }) });
  outgoing.setTimeout(silenceSecondsMax * 1000, () => {
    outgoing.destroy(new ConnectionError("timeout", `The upload made no progress for ${silenceSecondsMax} s.`));
  });
  const answered = answerTo(outgoing);
  try {
    if (asksFirst) outgoing.flushHeaders();
    // A refusal arrives here, before the whole archive is sent.
    if (!asksFirst || (await wantsBody(outgoing, answered))) {
      const sent = pipeline(stream, counted(size, onProgress), outgoing);
      // A server that refuses during the upload closes the connection: its response is reported, not the broken pipe.
      await Promise.race([sent, answered]);
    }
    const answer = await answered;
    if (answer.status < 200 || answer.status > 299) throw refusal(answer);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SlipwayError) throw error;
    throw new ConnectionError("network", `The upload was interrupted (${connectionCode(error)}).`, { cause: error });
  } finally {
    stream.destroy();
    outgoing.destroy();
  }
}

interface UploadAnswer {
  status: number;
  text: string;
  retryAfter: string | undefined;
}

function answerTo(outgoing: ClientRequest): Promise<UploadAnswer> {
  const answered = new Promise<UploadAnswer>((resolve, reject) => {
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        if (text.length < answerBytesMax) text += piece;
      });
      const retryAfter = response.headers["retry-after"];
      const done = () => resolve({ status: response.statusCode ?? 0, text, retryAfter });
      response.on("end", done).on("error", done);
    });
  });
  answered.catch(() => undefined);
  return answered;
}

function wantsBody(outgoing: ClientRequest, answered: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(true), continueSecondsMax * 1000);
    outgoing.once("continue", () => resolve(true));
    answered.then(() => resolve(false), reject).finally(() => clearTimeout(timer));
  });
}

function counted(size: number, onProgress: UploadOptions["onProgress"]): Transform {
  let sentBytes = 0;
  const changed = () => new Error("The archive changed while it was sent.");
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      sentBytes += piece.length;
      if (sentBytes > size) return done(changed());
      onProgress?.({ sentBytes, totalBytes: size });
      done(null, piece);
    },
    flush: (done) => done(sentBytes === size ? null : changed()),
  });
}

/** Storage's answer as an error; only its code is used, because the rest contains the signed URL. */
function refusal({ status, text, retryAfter }: UploadAnswer): SlipwayError {
  const code = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(text)?.[1];
  const reason = code === undefined ? String(status) : `${status} ${code}`;
  const advice = status === 403 ? " The address is valid for one hour and for one build." : "";
  return new SlipwayError("upload_refused", `The archive was not accepted (${reason}).${advice}`, {
    status,
    retryAfterSeconds: parseRetryAfter(retryAfter, new Date()),
  });
}
