import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { GatewayConnector } from "./records.ts";
import type { RunningTask } from "./task-runner.ts";

export interface HealthCheck {
  path: string;
  timeoutMs: number;
  isHealthy(statusCode: number): boolean;
}

/** The health check of a connector. Defaults: GET /, 5 s, status 200-499. */
export function healthCheckOf({ healthCheck }: GatewayConnector): HealthCheck {
  const ranges = (healthCheck?.matcher?.httpCode ?? "200-499").split(",").map((range) => range.split("-").map(Number));
  return {
    path: healthCheck?.healthCheckPath ?? "/",
    timeoutMs: (healthCheck?.healthCheckTimeoutSeconds ?? 5) * 1000,
    isHealthy: (code) => ranges.some(([from = 0, to = from]) => code >= from && code <= to),
  };
}

type Place = Pick<RunningTask, "address" | "port">;

type Probe = { kind: "answered"; statusCode: number } | { kind: "timeout" | "refused" | "failed" };

function probe({ address, port }: Place, check: HealthCheck, signal: AbortSignal): Promise<Probe> {
  return new Promise((resolve) => {
    const probing = request(
      {
        host: address,
        port,
        path: check.path,
        agent: false,
        signal,
        headers: { "user-agent": "ELB-HealthChecker/2.0", connection: "close" },
      },
      (response) => {
        clearTimeout(timer);
        resolve({ kind: "answered", statusCode: response.statusCode ?? 0 });
        response.on("error", () => {}).resume();
        // The status is enough; an endless body must not keep the connection open.
        setTimeout(() => response.destroy(), 1000).unref();
      },
    );
    const timer = setTimeout(() => {
      resolve({ kind: "timeout" });
      probing.destroy();
    }, check.timeoutMs);
    probing.on("error", (error) => {
      clearTimeout(timer);
      resolve({ kind: "code" in error && error.code === "ECONNREFUSED" ? "refused" : "failed" });
    });
    probing.end();
  });
}

/** Runs the check once. */
export async function passesCheck(place: Place, check: HealthCheck, signal: AbortSignal): Promise<boolean> {
  const result = await probe(place, check, signal);
  return result.kind === "answered" && check.isHealthy(result.statusCode);
}

export interface HealthWatch {
  task: Pick<RunningTask, "address" | "port" | "sockets" | "isProxied">;
  containerPort: number;
  check: HealthCheck;
  signal: AbortSignal;
  /** The app answers, but with a status that the check does not accept. */
  onAnswer(): void;
  /** Gets the reason as a service event states it: "Health checks failed with these codes: [500]". */
  onUnhealthy(reason: string): void;
  /** The app listens on another port or address than the gateway uses; `notice` is a message for its developer. */
  onWrongAddress(notice: string): void;
}

const intervalMsMin = 25;
const intervalMsMax = 1000;
/** A refused connection is usual right after a start, so it is reported only this often. */
const refusedReportedEveryMs = 1000;

function inAddress(address: string, port: number): string {
  return `${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** The reason why the connection is refused, for a service event; also notifies the developer if the app listens elsewhere. */
async function refusedReason(watch: HealthWatch): Promise<string> {
  const { task, containerPort } = watch;
  const sockets = await task.sockets().catch(() => undefined);
  if (!sockets) return "Health checks failed";
  const expected = sockets.filter(({ isExpected }) => isExpected);
  // The app has started to listen since the probe.
  if (expected.some(({ isReachable }) => isReachable)) return "Health checks failed";
  const own = expected.map(({ address }) => inAddress(address, containerPort));
  const places = own.length > 0 ? `${[...new Set(own)].join(", ")} only` : portsOf(sockets);
  if (own.length > 0) watch.onWrongAddress(`Slipway: the app listens on ${places}. Listen on 0.0.0.0.`);
  else if (places)
    watch.onWrongAddress(`Slipway: the app listens on ${places}, but requests arrive on port ${containerPort} (PORT).`);
  return `Health checks failed; the task listens on ${places || "no port"}`;
}

function portsOf(sockets: readonly { port: number }[]): string {
  return [...new Set(sockets.map(({ port }) => `port ${port}`))].join(", ");
}

/**
 * Checks a task until it is healthy; rejects only when `signal` aborts. While the connection is refused, a check is
 * cheap, so it is repeated every few milliseconds to notice a start at once. For an app that answers with an unhealthy
 * status, the interval doubles up to one second.
 */
export async function untilHealthy(watch: HealthWatch): Promise<void> {
  const { task, check, signal } = watch;
  const startedAt = performance.now();
  let intervalMs = intervalMsMin;
  let reportedAt = startedAt;
  let lastCode: number | undefined;
  for (;;) {
    const result = await probe(task, check, signal);
    signal.throwIfAborted();
    const isRefused = result.kind === "refused" || (result.kind === "failed" && task.isProxied);
    const elapsedMs = performance.now() - startedAt;
    if (result.kind === "answered") {
      if (check.isHealthy(result.statusCode)) return;
      watch.onAnswer();
      // One bad answer is usual while an app warms up.
      if (lastCode === result.statusCode)
        watch.onUnhealthy(`Health checks failed with these codes: [${result.statusCode}]`);
      lastCode = result.statusCode;
    } else if (result.kind === "timeout") watch.onUnhealthy("Request timed out");
    else if (performance.now() - reportedAt > refusedReportedEveryMs) {
      reportedAt = performance.now();
      const reason = isRefused ? await refusedReason(watch) : "Health checks failed";
      signal.throwIfAborted();
      watch.onUnhealthy(reason);
    }
    if (isRefused) {
      await delay(Math.min(5 + elapsedMs / 100, 250), undefined, { signal });
      continue;
    }
    await delay(intervalMs, undefined, { signal });
    intervalMs = Math.min(intervalMs * 2, intervalMsMax);
  }
}
