import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { answerError, forward, headerBytesMax } from "./forward.ts";
import type { Lease } from "./instance.ts";
import type { Answered } from "./measurements.ts";
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

/** What a gateway serves, and who is told of its answers. */
export interface Served {
  route: Route;
  testHeader: TestHeader;
  /** Called for each answer to a request without the test header. */
  onAnswer(answer: Answered): void;
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

/** The task set that would get a request now. */
const setOf = (route: Route, isTest: boolean) => (isTest ? route.test : undefined) ?? route.production;

async function acquire(route: Route, isTest: boolean, closed: AbortSignal): Promise<Lease | undefined> {
  const deadline = performance.now() + holdMsMax;
  for (;;) {
    const set = setOf(route, isTest);
    const lease = set?.lease();
    if (lease) return lease;
    const leftMs = deadline - performance.now();
    if (!set?.isExpected || leftMs <= 0 || closed.aborted) return undefined;
    await set.changed(closed, leftMs);
  }
}

/**
 * Whether a request carries the test header, which is for the gateway alone: it is removed, whatever its value. A request
 * with another value goes to the production traffic; it is a check of its health too.
 */
function takeTestHeader(request: IncomingMessage, { name, value }: TestHeader): { isTest: boolean; isCheck: boolean } {
  const lower = name.toLowerCase();
  const given = request.headers[lower];
  const { rawHeaders: raw } = request;
  request.rawHeaders = raw.filter((_, index) => raw[index - (index % 2)]?.toLowerCase() !== lower);
  return { isTest: given === value, isCheck: given !== undefined };
}

/** Reports the first answer to a request, with its time; health checks are no requests. */
function answerReport({ route, onAnswer }: Served, { isTest, isCheck }: { isTest: boolean; isCheck: boolean }) {
  const startedAt = performance.now();
  let isReported = isCheck;
  return (status: number) => {
    if (isReported) return;
    isReported = true;
    onAnswer({ status, seconds: (performance.now() - startedAt) / 1000, set: setOf(route, isTest) });
  };
}

/** Opens the public address of one service: a streaming reverse proxy on 127.0.0.1. Rejects if the port is in use. */
export async function openGateway(port: number, served: Served): Promise<Gateway> {
  const { route, testHeader } = served;
  const server: Server = createServer({
    maxHeaderSize: headerBytesMax,
    // A proxy may ignore other upgrades (h2c): such requests are answered as plain HTTP/1.1.
    shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === "websocket",
    keepAliveTimeout: 75_000,
    requestTimeout: 0,
  });
  let ownPort = port;
  server.on("request", (request, response) => {
    const kind = takeTestHeader(request, testHeader);
    const report = answerReport(served, kind);
    const refuse = (status: 502 | 503) => {
      answerError(response, status);
      report(status);
    };
    const closed = new AbortController();
    response.once("close", () => closed.abort());
    const deadline = performance.now() + refusedMsMax;
    let isRepeated = false;
    const serve = async (): Promise<void> => {
      const lease = await acquire(route, kind.isTest, closed.signal);
      if (!lease) return refuse(503);
      if (response.destroyed) return lease.release();
      forward(request, response, { lease, gatewayPort: ownPort, onAnswer: report }, (why) => {
        response.off("close", lease.release);
        lease.release();
        // A lost request goes to another task once; more could end every task if it is the request that ends them.
        const mayRepeat = why === "refused" || (!isRepeated && (route.production?.openCount ?? 0) > 1);
        if (why === "lost") isRepeated = true;
        if (performance.now() > deadline || !mayRepeat) refuse(502);
        else setTimeout(serve, refusedRetryMs);
      });
    };
    void serve();
  });
  server.on("upgrade", (request, socket, firstBytes) => {
    const closed = new AbortController();
    socket.on("error", () => {}).once("close", () => closed.abort());
    const kind = takeTestHeader(request, testHeader);
    const report = answerReport(served, kind);
    void acquire(route, kind.isTest, closed.signal).then((lease) => {
      if (socket.destroyed) lease?.release();
      else if (lease) forwardUpgrade(request, socket, firstBytes, { lease, gatewayPort: ownPort, onAnswer: report });
      else {
        refuseUpgrade(socket, "503 Service Unavailable");
        report(503);
      }
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
