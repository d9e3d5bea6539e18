import type { IncomingMessage, ServerResponse } from "node:http";

const hash =
  /[.-]([\w-]{8}|[a-f0-9]{16}|[a-f0-9]{20}|[a-f0-9]{32}|[a-f0-9]{40}|[a-f0-9]{64})(\.chunk)?\.[a-z0-9]+(\.map)?$/;

/** True if a path contains a content hash, so that the file can be cached forever. An ordinary word of eight letters does not count. */
export function isHashed(path: string): boolean {
  if (/\/(_astro|_next\/static|_app\/immutable)\//.test(path)) return true;
  const found = hash.exec(path)?.[1] ?? "";
  return /\d/.test(found) && /[A-Za-z]/.test(found) && (/^[a-f0-9]+$/.test(found) || /[A-Z]/.test(found));
}

/**
 * Reduces If-None-Match to sirv's own tag, because sirv compares the whole header, and sets the tag on the response,
 * because sirv's 304 has none. A tag whose W/ was removed by a proxy also counts.
 */
export function keepOnlyOwnTags({ headers }: IncomingMessage, response: ServerResponse): void {
  const own = /"(\d+-\d+)"/.exec(headers["if-none-match"] ?? "")?.[1];
  delete headers["if-none-match"];
  if (own !== undefined) {
    headers["if-none-match"] = `W/"${own}"`;
    response.setHeader("etag", `W/"${own}"`);
    response.setHeader("cache-control", "no-cache");
    response.setHeader("vary", "accept-encoding");
  }
  // A range refers to the uncompressed file.
  if (headers.range !== undefined) delete headers["accept-encoding"];
}

/** Keeps a Range header only if sirv handles it correctly (`bytes=first-last`). For other ranges the whole file is sent. */
export function narrowRange({ headers }: IncomingMessage, size: number, changedAt: Date): void {
  const { range, "if-range": condition } = headers;
  if (range === undefined) return;
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  const isSame = condition === undefined || condition === changedAt.toUTCString();
  const isRange = first !== "" || last !== "";
  if (isRange && isSame && start >= size) headers.range = `bytes=${size}-`;
  else if (isRange && isSame && start <= end && end > 0) headers.range = `bytes=${start}-${end}`;
  else delete headers.range;
}
