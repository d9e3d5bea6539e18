import { createReadStream } from "node:fs";
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";

/** A part of an open file, with inclusive ends; the descriptor is closed after it has been sent. */
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

/** Sends the answer with back-pressure. */
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
