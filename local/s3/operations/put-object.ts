import { S3Error } from "../errors.ts";
import { planPayload, receivePayload } from "../payload.ts";
import type { S3Reply } from "../reply.ts";
import type { S3Request } from "../request.ts";
import type { ObjectStore } from "../store/store.ts";

const keptHeaders = ["cache-control", "content-disposition", "content-language", "expires"];
const metadataBytesMax = 2048;

/** The request's headers that GET returns; the default content-type is `binary/octet-stream`. */
export function storedHeaders(request: S3Request): Record<string, string> {
  const sent = request.http.headers;
  const headers: Record<string, string> = { "content-type": sent["content-type"] ?? "binary/octet-stream" };
  for (const name of keptHeaders) {
    const value = sent[name];
    if (typeof value === "string") headers[name] = value;
  }
  const encoding = (sent["content-encoding"] ?? "").split(",").map((token) => token.trim());
  const ownEncoding = encoding.filter((token) => token !== "" && token !== "aws-chunked").join(",");
  if (ownEncoding !== "") headers["content-encoding"] = ownEncoding;

  let metadataBytes = 0;
  for (const name of [...Object.keys(sent), ...[...request.query.keys()].map((key) => key.toLowerCase())]) {
    if (!name.startsWith("x-amz-meta-")) continue;
    const value = request.amz(name);
    if (value === undefined) continue;
    headers[name] = value;
    metadataBytes += name.length + value.length;
  }
  if (metadataBytes > metadataBytesMax) {
    throw new S3Error("InvalidRequest", { message: "Your metadata headers exceed the maximum allowed metadata size" });
  }
  return headers;
}

/** Frees the memory of a chunk at once, because the garbage collector would let about 60 MB accumulate first. */
function release({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0);
}

/** Streams the body to disk and publishes the object after the whole body was checked; on an error nothing is kept. */
export async function putObject(request: S3Request, store: ObjectStore): Promise<S3Reply> {
  const plan = planPayload(request);
  const headers = storedHeaders(request);
  const blob = await store.blobs.create();
  try {
    const payload = await receivePayload(request.body(), plan, async (piece) => {
      await blob.write(piece);
      if (!plan.chunked) release(piece);
    });
    await blob.close();
    const { size, md5: etag, checksum } = payload;
    const published = store.publish(request.settings, {
      key: request.key,
      requestId: request.requestId,
      sourceIp: request.http.socket.remoteAddress ?? "127.0.0.1",
      reason: "PutObject",
      content: { blob: blob.id, size, etag, details: { headers, checksum } },
    });
    return {
      status: 200,
      headers: {
        etag: `"${etag}"`,
        ...(published.versionId === undefined ? {} : { "x-amz-version-id": published.versionId }),
        ...(checksum ? { [checksum.header]: checksum.value, "x-amz-checksum-type": "FULL_OBJECT" } : {}),
      },
    };
  } catch (error) {
    await blob.discard();
    throw error;
  }
}
