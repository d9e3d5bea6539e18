import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { settingNames } from "../../../api/settings.ts";

/** The fields of a list that a single build does not have. */
const listed = { canceledAt: null, canRedeploy: false, redeployBlockedBy: "live" };
const settings = Object.fromEntries(settingNames.map((name) => [name, null]));

const at = "2026-11-20T01:02:03.456Z";

export interface Script {
  /** The responses to reads of a build, in order; the last one repeats. */
  statuses?: { status: string; [field: string]: unknown }[];
  /** Answers of POST builds before the one that succeeds. */
  conflicts?: { id: string; status: string }[];
  uploadStatus?: number;
  /** Lines of the app's output, or of another stage. */
  logLines?: (string | { stage: string; text: string })[];
  /** Calls that are refused, by what their address or body contains; the first match counts. */
  refusals?: [part: string, status: 401 | 404][];
  cancelRefusal?: string;
  /** The builds that are listed. */
  builds?: { id: string; [field: string]: unknown }[];
  /** The names of the organization's projects; the first one is prj_1. */
  projects?: string[];
  environments?: { id: string; name: string; value: string }[];
  /** The seconds of each answer's Retry-After; 0 when not given. */
  retryAfterSeconds?: number;
}

/** The secret part of the upload address, which must never be seen. */
const uploadSignature = "X-Amz-Signature=5ec3e7";

/** A server that responds by the contract, follows a script, and records requests. */
export async function contractService(script: Script = {}) {
  const asked: { call: string; headers: IncomingMessage["headers"]; body: Buffer }[] = [];
  const reads = script.statuses ?? [{ status: "ready" }];
  const conflicts = [...(script.conflicts ?? [])];
  const stored = [...(script.environments ?? [])];
  let turn = 0;
  const build = (fields: object) => ({
    id: "bld_1",
    title: null,
    description: null,
    commit: null,
    version: null,
    runtime: null,
    size: null,
    status: "pending",
    error: null,
    suggestion: null,
    createdAt: at,
    updatedAt: at,
    ...fields,
  });
  const single = (fields: object) => ({
    ...build({}),
    warning: null,
    canceledAt: null,
    isLive: false,
    findings: [],
    detected: null,
    ...fields,
  });
  const problem = (status: number, code: string, message: string, more: object = {}) => ({
    status,
    body: { status: "Conflict", message, code, requestId: "req_1", ...more },
  });

  function answer(call: string, body: Buffer): { status: number; body: unknown } {
    const json = () => JSON.parse(body.toString() || "{}");
    const refusal = script.refusals?.find(([part]) => call.includes(part) || body.includes(part))?.[1];
    if (refusal === 401) return problem(401, "unauthorized", "A valid credential is required.");
    if (refusal === 404) return problem(404, "not_found", "There is no such resource.");
    if (call === "GET /organizations") {
      return { status: 200, body: { organizations: [{ id: "org_1", name: "One", role: null }] } };
    }
    if (call === "POST /console/connect/token") {
      const bounds = { access: "all", organizationIds: null, createdAt: at, expiresAt: null, lastUsedAt: null };
      return { status: 201, body: { token: { id: "tok_1", description: "slipway", ...bounds, value: "slp_made" } } };
    }
    if (call.startsWith("DELETE /me/tokens/")) return { status: 200, body: { token: call.split("/").at(-1) } };
    const route = call.replace("/organizations/org_1/projects/prj_1", "");
    if (route === "POST /rebuild") return { status: 201, body: { build: build({}) } };
    if (route === "POST /builds") {
      const running = conflicts.shift();
      if (running) return problem(409, "build_in_progress", "busy", { build: { ...running, createdAt: at } });
      const url = `http://127.0.0.1:${port()}/put/bld_1.zip?${uploadSignature}`;
      return { status: 201, body: { build: build(json()), url } };
    }
    const project = { id: "prj_1", name: "One", settings, managers: null, createdAt: at, updatedAt: at };
    if (route === "GET ") return { status: 200, body: { project } };
    if (call.startsWith("GET /organizations/org_1/projects?")) {
      const projects = (script.projects ?? ["One"]).map((name) => ({ ...project, name }));
      return { status: 200, body: { projects, nextCursor: null } };
    }
    if (/^GET \/builds(\?|$)/.test(route)) {
      const builds = (script.builds ?? []).map((fields) => ({ ...listed, ...build(fields) }));
      return { status: 200, body: { builds, nextCursor: null, redeployAvailability: { status: "available" } } };
    }
    if (/^GET \/builds\/bld_\w+$/.test(route)) {
      const read = reads[Math.min(turn, reads.length - 1)] ?? {};
      turn += 1;
      return { status: 200, body: { build: single({ ...read, id: route.split("/").at(-1) }) } };
    }
    if (/^GET \/builds\/bld_\w+\/logs/.test(route)) {
      const lines = (script.logLines ?? []).map((line) =>
        typeof line === "string" ? { at, stage: "deploying", text: line } : { at, ...line },
      );
      return { status: 200, body: { lines, nextCursor: null } };
    }
    if (route === "POST /builds/bld_1/cancel") {
      if (script.cancelRefusal) return problem(409, "build_deploying", script.cancelRefusal);
      return { status: 200, body: { build: single({ canceledAt: at }) } };
    }
    if (route === "GET /endpoints") return { status: 200, body: { endpoints: ["http://127.0.0.1:9/"] } };
    if (route === "GET /environments") {
      return { status: 200, body: { environments: stored.map((row) => ({ ...row, createdAt: at, updatedAt: at })) } };
    }
    if (route === "POST /environments" || route.startsWith("PUT /environments/")) {
      const status = route.startsWith("POST") ? 201 : 200;
      const environment = { id: "env_9", name: "X", value: "", ...json(), createdAt: at, updatedAt: at };
      return { status, body: { environment } };
    }
    return problem(404, "not_found", "There is no such resource.");
  }

  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray().catch(() => []));
    const call = `${request.method} ${request.url}`;
    asked.push({ call, headers: request.headers, body });
    if (call.startsWith("PUT /put/")) return response.writeHead(script.uploadStatus ?? 200).end();
    const reply = answer(call, body);
    response.writeHead(reply.status, {
      "content-type": "application/json",
      "retry-after": String(script.retryAfterSeconds ?? 0),
    });
    return response.end(JSON.stringify(reply.body));
  });
  const port = () => (server.address() as AddressInfo).port;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    asked,
    calls: () => asked.map(({ call }) => call.replace("/organizations/org_1/projects/prj_1", "").replace(/\?.*/, "")),
    environment: {
      SLIPWAY_URL: `http://127.0.0.1:${port()}`,
      SLIPWAY_ACCESS_KEY: "ak_1",
      SLIPWAY_SECRET_KEY: "sk_5ec3e7",
      SLIPWAY_ORGANIZATION: "org_1",
      SLIPWAY_PROJECT: "prj_1",
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
