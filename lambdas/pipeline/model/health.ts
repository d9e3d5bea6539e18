import { appAdvice, programAdvice } from "./advice.ts";

/** An app that still listens on a loopback address this long after its start counts as failed. */
export const loopbackSeconds = 10;
/** How long a new version may take until its hook opens: placing the task, pulling the image, registering the target. */
export const startSeconds = 600;

export type Probe = { status: number } | { failure: "refused" | "timeout" | "broken" };

/** Any answer below 500 is healthy (docs/api.md, Health check). */
export function isHealthyAnswer(probe: Probe): boolean {
  return "status" in probe && probe.status < 500;
}

/** An answer that keeps the build `ready` but may mean that the app does not work; null otherwise (docs/api.md, Health check). */
export function answerWarning(probe: Probe, path: string): string | null {
  if (!("status" in probe) || probe.status < 400 || probe.status === 401 || probe.status === 403) return null;
  const advice = path === "/" ? "check its routes" : "correct healthPath, or the app's routes";
  return `The app runs, but GET ${path} answered ${probe.status}. If that is not intended, ${advice}.`;
}

export interface Exit {
  code: number | undefined;
  reason: string | undefined;
  afterSeconds: number | undefined;
  /** The memory of an instance in MiB, if the app was killed because it used more. */
  memory?: number | undefined;
}

export function exitReason(exit: Exit): string {
  const after = exit.afterSeconds === undefined ? "" : ` after ${exit.afterSeconds.toFixed(1)} s`;
  if (exit.code === undefined) return `The app could not be started: ${exit.reason ?? "ECS gave no reason"}.`;
  if (exit.memory !== undefined)
    return `The app exited with code ${exit.code}${after} before it was healthy, because it used more than its ${exit.memory} MiB of memory. Raise the setting memory, or let the app use less.`;
  const hint = exit.code === 0 ? " It has to keep running and answer requests." : "";
  return `The app exited with code ${exit.code}${after} before it was healthy.${hint}`;
}

/** Where the app listens according to the gateway's events (newest first); undefined if they do not say it. */
export function listeningPlace(events: readonly string[]): { loopback: string } | { ports: string } | undefined {
  const event = events.find((text) => text.includes("is unhealthy")) ?? "";
  const place = /listens on ([^;)]+)/.exec(event)?.[1];
  if (place === undefined || place === "no port") return undefined;
  const loopback = /(.+) only$/.exec(place)?.[1];
  return loopback === undefined ? { ports: place } : { loopback };
}

/** The app listens on its port, but cannot be reached from outside its container. */
export function loopbackReason(address: string): string {
  return `Your app listens on ${address} only, so no request from outside its container reaches it. Listen on 0.0.0.0.`;
}

/** Why the new version is not healthy, in words: from the last probes, the gateway's events and the app's output. */
export function unhealthyReason(input: {
  probe: Probe | undefined;
  events: readonly string[];
  output: readonly string[];
  port: number;
  path: string;
}): string {
  const { probe, events, output, port, path } = input;
  const set = path === "/" ? "" : ` The path is the setting healthPath: correct it if the app has another.`;
  const event = events.find((text) => text.includes("is unhealthy")) ?? "";
  const status = probe && "status" in probe ? probe.status : Number(/codes: \[(\d{3})/.exec(event)?.[1] ?? 0);
  if (status >= 500)
    return `The last probe, GET ${path}, was answered with ${status}; any answer below 500 is healthy.${set}`;
  const place = listeningPlace(events);
  if (place && "loopback" in place) return loopbackReason(place.loopback);
  const elsewhere = place?.ports ?? announcedPort(output, port);
  if (elsewhere) {
    return `Your app listens on ${elsewhere}, but requests arrive on port ${port}. Listen on the port in the environment variable PORT, on 0.0.0.0.`;
  }
  if (/timed out/i.test(event) || (probe && "failure" in probe && probe.failure === "timeout")) {
    return `The last probe, GET ${path}, got no answer within 5 s.${set}`;
  }
  return `Nothing is listening on port ${port}. Listen on the port in the environment variable PORT, on 0.0.0.0.`;
}

/** A wrong port on which the app listens, according to its own output. */
function announcedPort(output: readonly string[], port: number): string | undefined {
  for (const line of output.toReversed()) {
    const found = /(?:listen|running|started|serving|ready|http:\/\/)[^\n]{0,60}?[:\s](\d{4,5})\b/i.exec(line)?.[1];
    if (found && Number(found) !== port) return `port ${found}`;
  }
  return undefined;
}

/** The whole reason: what was seen, advice if the output names the cause, what was detected, and the last output. */
export function withOutput(
  reason: string,
  output: readonly string[],
  detected: string | null = null,
  subject = "The app",
): string {
  const lines = output.filter((line) => line.trim() !== "").slice(-20);
  const told = lines.length === 0 ? [`${subject} wrote no output.`] : ["Last output:", ...lines];
  return [reason, programAdvice(reason) ?? appAdvice(lines), detected, ...told]
    .filter((line) => typeof line === "string")
    .join("\n");
}

/** What serves the project now: the first sentence of a failed deployment's error. */
export function rollbackSentence(hasPrevious: boolean): string {
  return hasPrevious
    ? "The new version did not become healthy, so the previous version keeps serving."
    : "The version did not become healthy, and nothing is running.";
}
