import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { answerError, forward, headerBytesMax } from "./forward.ts";
import type { Lease } from "./instance.ts";
import type { TaskSet } from "./task-set.ts";
import { forwardUpgrade, refuseUpgrade } from "./upgrade.ts";

/** The task sets that get a service's requests; the service controller changes them in one step. */
export interface Route {
  production?: TaskSet | undefined;
  /** Gets the requests that carry the test header. */
  test?: TaskSet | undefined;
}

export interface TestHeader {
  name: string;
  value: string;
}

export interface Gateway {
  port: number;
  /** Stops listening; if `now` is set, the requests in flight are cut off. */
  close(now: boolean): Promise<void>;
}

/** How long a request waits for an app that is just being started. */
const holdMsMax = 5000;
/** An app that has just exited refuses connections until its exit is noticed; the request is retried for this long. */
const refusedMsMax = 1000;
const refusedRetryMs = 20;

async function acquire(route: Route, isTest: boolean, closed: AbortSignal): Promise<Lease | undefined> {
  const deadline = performance.now() + holdMsMax;
  for (;;) {
    const set = (isTest ? route.test : undefined) ?? route.production;
    const lease = set?.lease();
    if (lease) return lease;
    const leftMs = deadline - performance.now();
    if (!set?.isExpected || leftMs <= 0 || closed.aborted) return undefined;
    await set.changed(closed, leftMs);
  }
}

/** Whether a request carries the test header, which is for the gateway alone: it is removed, whatever its value. */
function takeTestHeader(request: IncomingMessage, { name, value }: TestHeader): boolean {
  const lower = name.toLowerCase();
  const isTest = request.headers[lower] === value;
  const { rawHeaders: raw } = request;
  request.rawHeaders = raw.filter((_, index) => raw[index - (index % 2)]?.toLowerCase() !== lower);
  return isTest;
}

/** Opens the public address of one service: a streaming reverse proxy on 127.0.0.1. Rejects if the port is in use. */
export async function openGateway(port: number, route: Route, testHeader: TestHeader): Promise<Gateway> {
  const server: Server = createServer({
    maxHeaderSize: headerBytesMax,
    // A proxy may ignore other upgrades (h2c): such requests are answered as plain HTTP/1.1.
    shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === "websocket",
    keepAliveTimeout: 75_000,
    requestTimeout: 0,
  });
  let ownPort = port;
  server.on("request", (request, response) => {
    const isTest = takeTestHeader(request, testHeader);
    const closed = new AbortController();
    response.once("close", () => closed.abort());
    const deadline = performance.now() + refusedMsMax;
    let isRepeated = false;
    const serve = async (): Promise<void> => {
      const lease = await acquire(route, isTest, closed.signal);
      if (!lease) return answerError(response, 503);
      if (response.destroyed) return lease.release();
      forward(request, response, lease, ownPort, (why) => {
        response.off("close", lease.release);
        lease.release();
        // A lost request goes to another task once; more could end every task if it is the request that ends them.
        const mayRepeat = why === "refused" || (!isRepeated && (route.production?.openCount ?? 0) > 1);
        if (why === "lost") isRepeated = true;
        if (performance.now() > deadline || !mayRepeat) answerError(response, 502);
        else setTimeout(serve, refusedRetryMs);
      });
    };
    void serve();
  });
  server.on("upgrade", (request, socket, firstBytes) => {
    const closed = new AbortController();
    socket.on("error", () => {}).once("close", () => closed.abort());
    void acquire(route, takeTestHeader(request, testHeader), closed.signal).then((lease) => {
      if (!lease) refuseUpgrade(socket, "503 Service Unavailable");
      else if (socket.destroyed) lease.release();
      else forwardUpgrade(request, socket, firstBytes, lease, ownPort);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1", exclusive: true }, resolve);
  });
  ownPort = (server.address() as AddressInfo).port;
  return {
    port: ownPort,
    close: (now) =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if (now) server.closeAllConnections();
      }),
  };
}
