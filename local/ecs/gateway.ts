import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { answerPlainly, forward, headerBytesMax } from "./forward.ts";
import type { Lease, TaskSet } from "./task-set.ts";
import { forwardUpgrade, refuseUpgrade } from "./upgrade.ts";

/** Where the requests to a service's public address go; the controller of its deployments changes it in one step. */
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
  /** Takes no more requests; those on their way are cut when `now` is set. */
  close(now: boolean): Promise<void>;
}

/** How long a request waits for an app that is just being started. */
const holdMsMax = 5000;
/** An app that has just ended refuses connections before its end is noticed; then the request waits for the next. */
const refusedMsMax = 1000;
const refusedRetryMs = 20;

async function acquire(route: Route, isTest: boolean, gone: AbortSignal): Promise<Lease | undefined> {
  const late = performance.now() + holdMsMax;
  for (;;) {
    const set = (isTest ? route.test : undefined) ?? route.production;
    const lease = set?.lease();
    if (lease) return lease;
    const leftMs = late - performance.now();
    if (!set?.isExpected || leftMs <= 0 || gone.aborted) return undefined;
    await set.changed(gone, leftMs);
  }
}

/** The public address of one service: a streaming reverse proxy on 127.0.0.1; rejects when the port is taken. */
export async function openGateway(port: number, route: Route, testHeader: TestHeader): Promise<Gateway> {
  const isTest = ({ headers }: IncomingMessage) => headers[testHeader.name.toLowerCase()] === testHeader.value;
  const server: Server = createServer({
    maxHeaderSize: headerBytesMax,
    // Others (h2c) are offers that a proxy may decline: such requests are answered as plain HTTP/1.1.
    shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === "websocket",
    keepAliveTimeout: 75_000,
    requestTimeout: 0,
  });
  let ownPort = port;
  server.on("request", (request, response) => {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const late = performance.now() + refusedMsMax;
    const serve = async (): Promise<void> => {
      const lease = await acquire(route, isTest(request), gone.signal);
      if (!lease) return answerPlainly(response, 503);
      if (response.destroyed) return lease.release();
      forward(request, response, lease, ownPort, () => {
        lease.release();
        if (performance.now() > late) answerPlainly(response, 502);
        else setTimeout(serve, refusedRetryMs);
      });
    };
    void serve();
  });
  server.on("upgrade", (request, socket, firstBytes) => {
    const gone = new AbortController();
    socket.on("error", () => {}).once("close", () => gone.abort());
    void acquire(route, isTest(request), gone.signal).then((lease) => {
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
