import { ConnectionError, connectionCode, SlipwayError } from "./errors.ts";

/** The bytes of a file as they arrive. */
export interface Download {
  stream: ReadableStream<Uint8Array>;
  /** In bytes; undefined if the storage does not say it. */
  size: number | undefined;
}

/** Opens a presigned download address, without any credential of the service. Errors never show the address. */
export async function download(url: string, signal: AbortSignal | undefined): Promise<Download> {
  let response: Response;
  try {
    response = await fetch(url, { ...(signal && { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    throw new ConnectionError("network", `The download could not be started (${connectionCode(error)}).`, {
      cause: error,
    });
  }
  if (!response.ok || !response.body) {
    await response.body?.cancel();
    const message = `The file could not be downloaded (${response.status}).`;
    throw new SlipwayError("download_refused", message, { status: response.status });
  }
  const length = response.headers.get("content-length");
  return { stream: response.body, size: length === null ? undefined : Number(length) };
}
