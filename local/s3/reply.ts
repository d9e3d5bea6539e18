import { createReadStream } from "node:fs";
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";

/** Part of an open file, both ends included; the descriptor is closed once it has been sent. */
export interface FileSlice {
  descriptor: number;
  start: number;
  end: number;
}

export interface S3Reply {
  status: number;
  headers?: Record<string, string>;
  body?: string | FileSlice;
}

const readAheadBytes = 256 * 1024;

/** Sends the answer no faster than the client takes it. */
export async function sendReply(response: ServerResponse, reply: S3Reply, isHead: boolean): Promise<void> {
  const { status, headers = {}, body } = reply;
  if (typeof body === "object") {
    response.writeHead(status, headers);
    const { descriptor, start, end } = body;
    await pipeline(createReadStream("", { fd: descriptor, start, end, highWaterMark: readAheadBytes }), response);
    return;
  }
  const bytes = Buffer.from(isHead ? "" : (body ?? ""));
  const isEmptyByNature = status === 204 || status === 304 || isHead;
  const type = bytes.length > 0 ? { "content-type": "application/xml" } : {};
  response.writeHead(status, {
    ...type,
    ...(isEmptyByNature ? {} : { "content-length": String(bytes.length) }),
    ...headers,
  });
  response.end(bytes);
}
