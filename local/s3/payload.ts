import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { ChunkSigner } from "../aws/signature/verify.ts";
import { decodeAwsChunked } from "./aws-chunked.ts";
import { S3Error } from "./errors.ts";
import type { S3Request } from "./request.ts";

/** The maximum object size of one PUT: 5 GiB. */
const objectBytesMax = 5 * 1024 ** 3;

const checksums = {
  "x-amz-checksum-crc32": { bytes: 4, start: crc32Checksum },
  "x-amz-checksum-sha1": { bytes: 20, start: () => createHash("sha1") },
  "x-amz-checksum-sha256": { bytes: 32, start: () => createHash("sha256") },
} as const;
type ChecksumHeader = keyof typeof checksums;

function crc32Checksum() {
  let value = 0;
  return {
    update(chunk: Buffer) {
      value = crc32(chunk, value);
    },
    digest(encoding: "base64") {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes.toString(encoding);
    },
  };
}

/** The expected format, length and digests of a body. */
export interface PayloadPlan {
  /** Set for an `aws-chunked` body. */
  chunked: { signer: ChunkSigner | undefined; hasTrailer: boolean } | undefined;
  /** The length of the object, without the chunk format. */
  length: number;
  sha256: string | undefined;
  md5: string | undefined;
  /** The value is undefined if it is in the trailer. */
  checksum: { header: ChecksumHeader; value: string | undefined } | undefined;
}

export interface Payload {
  size: number;
  /** In hex. */
  md5: string;
  checksum: { header: ChecksumHeader; value: string } | undefined;
}

function isBase64Of(value: string, bytes: number): boolean {
  const decoded = Buffer.from(value, "base64");
  return decoded.length === bytes && decoded.toString("base64") === value;
}

function isChecksum(name: string): name is ChecksumHeader {
  return Object.hasOwn(checksums, name);
}

function planChecksum(request: S3Request): PayloadPlan["checksum"] {
  const announced = request.amz("x-amz-trailer");
  const names = ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"].map((algorithm) => `x-amz-checksum-${algorithm}`);
  const sent = names.filter((name) => request.amz(name) !== undefined);
  const [header, another] = announced === undefined ? sent : [...sent, announced.toLowerCase()];
  if (header === undefined) return undefined;
  if (another !== undefined) {
    throw new S3Error("InvalidRequest", { message: "Expecting a single x-amz-checksum- header." });
  }
  if (!isChecksum(header)) throw new S3Error("NotImplemented", { fields: [["Header", header]] });
  const value = announced === undefined ? request.amz(header) : undefined;
  if (value !== undefined && !isBase64Of(value, checksums[header].bytes)) {
    throw new S3Error("InvalidRequest", { message: `Value for ${header} header is invalid.` });
  }
  return { header, value };
}

function planChunked(request: S3Request): PayloadPlan["chunked"] {
  const signer = request.signature.chunks;
  switch (request.payloadHash) {
    case "STREAMING-UNSIGNED-PAYLOAD-TRAILER":
      return { signer: undefined, hasTrailer: true };
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD":
      return { signer, hasTrailer: false };
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
      return { signer, hasTrailer: true };
  }
  if (request.payloadHash.startsWith("STREAMING-")) throw new S3Error("NotImplemented");
  return undefined;
}

function planLength(request: S3Request, isChunked: boolean): number {
  const text = isChunked ? request.amz("x-amz-decoded-content-length") : request.http.headers["content-length"];
  if (text === undefined) throw new S3Error("MissingContentLength");
  if (!/^\d{1,15}$/.test(text)) throw new S3Error("InvalidArgument");
  const length = Number(text);
  if (length > objectBytesMax) {
    throw new S3Error("EntityTooLarge", {
      headers: { connection: "close" },
      fields: [
        ["ProposedSize", length],
        ["MaxSizeAllowed", objectBytesMax],
      ],
    });
  }
  return length;
}

/** Reads the expected format, length and digests of the body from the headers; refuses a body that cannot be verified. */
export function planPayload(request: S3Request): PayloadPlan {
  const chunked = planChunked(request);
  const length = planLength(request, chunked !== undefined);
  const md5 = request.http.headers["content-md5"];
  const contentMd5 = Array.isArray(md5) ? md5[0] : md5;
  if (contentMd5 !== undefined && !isBase64Of(contentMd5, 16)) throw new S3Error("InvalidDigest");
  const isDigest = /^[0-9a-f]{64}$/.test(request.payloadHash);
  if (!chunked && !isDigest && request.payloadHash !== "UNSIGNED-PAYLOAD") throw new S3Error("InvalidArgument");
  const sha256 = isDigest ? request.payloadHash : undefined;
  return { chunked, length, sha256, md5: contentMd5, checksum: planChecksum(request) };
}

/**
 * Passes the object's bytes to `write` as they arrive, one chunk at a time. Resolves after length, chunk format, digests
 * and signatures have been checked; after an error the caller must discard the written bytes.
 */
export async function receivePayload(
  source: AsyncIterable<Buffer>,
  plan: PayloadPlan,
  write: (piece: Buffer) => Promise<void> | void,
): Promise<Payload> {
  const md5 = createHash("md5");
  const sha256 = plan.sha256 === undefined ? undefined : createHash("sha256");
  const checksum = plan.checksum && checksums[plan.checksum.header].start();
  let trailers: ReadonlyMap<string, string> = new Map();
  const onTrailers = (received: ReadonlyMap<string, string>) => {
    trailers = received;
  };
  const pieces = plan.chunked ? decodeAwsChunked(source, { ...plan.chunked, onTrailers }) : source;

  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > plan.length) throw new S3Error("IncompleteBody");
    md5.update(piece);
    sha256?.update(piece);
    checksum?.update(piece);
    await write(piece);
  }
  if (size !== plan.length) throw new S3Error("IncompleteBody");
  const digest = md5.digest();
  if (plan.md5 !== undefined && digest.toString("base64") !== plan.md5) throw new S3Error("BadDigest");
  if (sha256 && sha256.digest("hex") !== plan.sha256) throw new S3Error("XAmzContentSHA256Mismatch");
  if (!plan.checksum || !checksum) return { size, md5: digest.toString("hex"), checksum: undefined };

  const { header } = plan.checksum;
  const expected = plan.checksum.value ?? trailers.get(header);
  const value = checksum.digest("base64");
  if (expected === undefined) throw new S3Error("MalformedTrailerError");
  if (expected !== value) throw new S3Error("BadDigest");
  return { size, md5: digest.toString("hex"), checksum: { header, value } };
}
