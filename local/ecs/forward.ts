import { type ClientRequest, type IncomingMessage, request as openRequest, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { requestHeaders, responseHeaders } from "./headers.ts";
import type { Lease } from "./task-set.ts";

export const headerBytesMax = 64 * 1024;

/** Answers in the gateway's own name, in a short plain text. */
export function answerPlainly(response: ServerResponse, status: 502 | 503): void {
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
  // The first event of a stream may come long after the head.
  response.flushHeaders();
  answer.once("end", () => {
    if (trailersCanFollow && answer.rawTrailers.length > 0) response.addTrailers(pairs(answer.rawTrailers));
  });
  pipeline(answer, response, () => {});
}

function pairs(raw: string[]): [string, string][] {
  return raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ""] satisfies [string, string]] : []));
}

/** Nothing of the body is taken before there is a connection, so that a refused request can be sent again whole. */
function sendBody(request: IncomingMessage, upstream: ClientRequest): void {
  request.once("end", () => {
    if (request.rawTrailers.length > 0) upstream.addTrailers(pairs(request.rawTrailers));
  });
  upstream.once("socket", (socket) => {
    if (socket.connecting) socket.once("connect", () => request.pipe(upstream));
    else request.pipe(upstream);
  });
}

/**
 * Passes one request to a task, body and answer streaming. Only what can be repeated safely goes over a pooled
 * connection: the app may close an idle one at the moment it is chosen, and then the request is sent once more over a
 * fresh one. `onRefused` is called instead of an answer when the connection is refused; nothing has been sent or read then.
 */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  lease: Lease,
  gatewayPort: number,
  onRefused: () => void,
): void {
  const body = hasBody(request);
  const repeatable = !body && safeMethods.has(request.method ?? "");
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
      } catch {
        // What the app sent cannot be said in HTTP (a status of 42).
        answer.destroy();
        answerPlainly(response, 502);
      }
    });
    upstream.on("error", (error) => {
      if (answered) return;
      if ("code" in error && error.code === "ECONNREFUSED" && !response.destroyed) onRefused();
      else if (pooled && upstream.reusedSocket && !response.destroyed) send(false);
      else answerPlainly(response, 502);
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
