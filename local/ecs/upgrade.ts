import { type IncomingMessage, request as openRequest } from "node:http";
import type { Duplex } from "node:stream";
import { type Forwarding, headerBytesMax } from "./forward.ts";
import { requestHeaders, responseHeaders } from "./headers.ts";

function head(answer: IncomingMessage, extra: string[]): string {
  const headers = [...responseHeaders(answer, false), ...extra];
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1] ?? ""}`] : []));
  return `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${lines.join("\r\n")}\r\n\r\n`;
}

/** Answers a WebSocket handshake that cannot be forwarded. */
export function refuseUpgrade(socket: Duplex, status: "502 Bad Gateway" | "503 Service Unavailable"): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function join(client: Duplex, app: Duplex): void {
  client.pipe(app).pipe(client);
  for (const [one, other] of [
    [client, app],
    [app, client],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
}

/** Forwards a WebSocket handshake to a task and connects both sides; the lease is released when they close. */
export function forwardUpgrade(
  request: IncomingMessage,
  client: Duplex,
  firstBytes: Buffer,
  { lease, gatewayPort, onAnswer }: Forwarding,
): void {
  client.once("close", lease.release);
  const headers = [
    ...requestHeaders(request, gatewayPort),
    "Connection",
    "Upgrade",
    "Upgrade",
    request.headers.upgrade ?? "websocket",
  ];
  const upstream = openRequest({
    host: lease.address,
    port: lease.port,
    method: request.method,
    path: request.url,
    headers,
    setHost: false,
    agent: false,
    maxHeaderSize: headerBytesMax,
  });
  const abandon = () => upstream.destroy();
  client.on("error", abandon).once("close", abandon);
  upstream.once("upgrade", (answer, app, appBytes) => {
    onAnswer(101);
    client.off("close", abandon);
    client.write(head(answer, ["Connection", "Upgrade", "Upgrade", answer.headers.upgrade ?? "websocket"]));
    client.write(appBytes);
    app.write(firstBytes);
    join(client, app);
  });
  upstream.once("response", (answer) => {
    onAnswer(answer.statusCode ?? 502);
    client.write(head(answer, ["Connection", "close"]));
    answer.pipe(client);
    answer.on("error", () => client.destroy());
  });
  upstream.on("error", () => {
    if (!client.writable) return;
    refuseUpgrade(client, "502 Bad Gateway");
    onAnswer(502);
  });
  upstream.end();
}
