import { type ClientRequest, type IncomingMessage, request as openRequest, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { requestHeaders, responseHeaders } from "./headers.ts";
import type { Lease } from "./instance.ts";

export const headerBytesMax = 64 * 1024;

/** Answers with an error of the gateway itself, as plain text. */
export function answerError(response: ServerResponse, status: 502 | 503): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const text =
    status === 502 ? "502 Bad Gateway: the app did not answer\n" : "503 Service Unavailable: no app is running\n";
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "content-length": text.length });
  response.end(text);
}

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function passOn(answer: IncomingMessage, request: IncomingMessage, response: ServerResponse): void {
  const trailersCanFollow =
    request.httpVersion === "1.1" && request.method !== "HEAD" && answer.headers["transfer-encoding"] !== undefined;
  response.sendDate = false;
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? "", responseHeaders(answer, trailersCanFollow));
  // A streaming app may send its first body bytes long after the headers.
  response.flushHeaders();
  answer.once("end", () => {
    if (trailersCanFollow && answer.rawTrailers.length > 0) response.addTrailers(pairs(answer.rawTrailers));
  });
  pipeline(answer, response, () => {});
}

function pairs(raw: string[]): [string, string][] {
  return raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ""] satisfies [string, string]] : []));
}

/** Reads the body only after the connection is open, so that a refused request can be sent again with its whole body. */
function sendBody(request: IncomingMessage, upstream: ClientRequest): void {
  request.once("end", () => {
    if (request.rawTrailers.length > 0) upstream.addTrailers(pairs(request.rawTrailers));
  });
  upstream.once("socket", (socket) => {
    if (socket.connecting) socket.once("connect", () => request.pipe(upstream));
    else request.pipe(upstream);
  });
}

/** How a request is forwarded. */
export interface Forwarding {
  lease: Lease;
  gatewayPort: number;
  /** Called when the status of an answer is known. */
  onAnswer(status: number): void;
}

/**
 * Forwards one request to a task and streams both bodies. Only requests that are safe to repeat use a pooled
 * connection: the app may close an idle connection at the moment it is chosen, and then the request is sent again on a
 * new one. If the app cannot answer, `onFailure` is called instead of an answer: "refused" if the connection is refused, and
 * no part of the body was read then; "lost" if the app ended before it answered a request that is safe to repeat.
 */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { lease, gatewayPort, onAnswer }: Forwarding,
  onFailure: (why: "refused" | "lost") => void,
): void {
  const body = hasBody(request);
  const repeatable = !body && safeMethods.has(request.method ?? "");
  const refuse = () => {
    answerError(response, 502);
    onAnswer(502);
  };
  const send = (pooled: boolean) => {
    const upstream = openRequest({
      host: lease.address,
      port: lease.port,
      method: request.method,
      path: request.url,
      headers: requestHeaders(request, gatewayPort),
      setHost: false,
      agent: pooled ? lease.agent : false,
      maxHeaderSize: headerBytesMax,
    });
    let answered = false;
    upstream.once("response", (answer) => {
      answered = true;
      try {
        passOn(answer, request, response);
        onAnswer(answer.statusCode ?? 502);
      } catch {
        // Node.js cannot write the app's answer as HTTP (a status of 42).
        answer.destroy();
        refuse();
      }
    });
    upstream.on("error", (error) => {
      if (answered) return;
      if ("code" in error && error.code === "ECONNREFUSED" && !response.destroyed) onFailure("refused");
      else if (pooled && upstream.reusedSocket && !response.destroyed) send(false);
      else if (repeatable && !response.destroyed) onFailure("lost");
      else if (!response.destroyed) refuse();
    });
    const abandon = () => {
      if (!response.writableFinished) upstream.destroy();
    };
    response.once("close", abandon);
    upstream.once("close", () => response.off("close", abandon));
    if (body) sendBody(request, upstream);
    else upstream.end();
  };
  response.once("close", lease.release);
  send(repeatable);
}
