import type { IncomingMessage } from "node:http";

/** RFC 9110 §7.6.1; `trailer` is not in the list because the gateway forwards trailers. */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

function endToEnd(message: IncomingMessage, dropped: Set<string>): string[] {
  const named = (message.headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const kept: string[] = [];
  for (let i = 0; i + 1 < message.rawHeaders.length; i += 2) {
    const name = message.rawHeaders[i] ?? "";
    const lower = name.toLowerCase();
    if (hopByHop.has(lower) || named.includes(lower) || dropped.has(lower)) continue;
    kept.push(name, message.rawHeaders[i + 1] ?? "");
  }
  return kept;
}

// The gateway's own server has already answered `Expect: 100-continue`.
const replacedInRequests = new Set(["expect", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-port"]);

/** The headers of a request for the app: all end-to-end headers with Host, and those that a load balancer adds. */
export function requestHeaders(request: IncomingMessage, gatewayPort: number): string[] {
  const headers = endToEnd(request, replacedInRequests);
  const before = request.headers["x-forwarded-for"];
  const client = request.socket.remoteAddress ?? "127.0.0.1";
  headers.push("X-Forwarded-For", before ? `${before}, ${client}` : client);
  headers.push("X-Forwarded-Proto", "http", "X-Forwarded-Port", String(gatewayPort));
  if (request.headers["transfer-encoding"]) headers.push("Transfer-Encoding", "chunked");
  return headers;
}

const trailerOnly = new Set(["trailer"]);

/** The headers of an answer for the client; without `Trailer` where no trailers can follow. */
export function responseHeaders(response: IncomingMessage, trailersCanFollow: boolean): string[] {
  return endToEnd(response, trailersCanFollow ? new Set() : trailerOnly);
}
