import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Running, startRunning } from "../harness/service.ts";

let running: Running;
beforeAll(async () => {
  running = await startRunning();
});
afterAll(() => running.stop());

/** Passes requests on with a credential, which the protocol's own test program cannot send. */
async function withCredential(token: string) {
  const { port } = new URL(running.seed.baseUrl);
  const server = createServer((incoming, response) => {
    const { method, url: path, headers: given } = incoming;
    // The service's own address in place of this one.
    const own = (value: string | undefined) => value?.replace(/:\d+$/, `:${port}`);
    const headers = { ...given, host: own(given.host), origin: own(given.origin), authorization: `Bearer ${token}` };
    for (const name of ["host", "origin"] as const) if (headers[name] === undefined) delete headers[name];
    const passed = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Scenarios that do not apply: they call tools, prompts and resources of a test server, or parts of the protocol that this
 * server does not offer (logging, completion, resources, streams).
 */
const doesNotApply = [
  "logging-set-level",
  "completion-complete",
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-mixed-content",
  "tools-call-with-logging",
  "tools-call-error",
  "tools-call-with-progress",
  "tools-call-sampling",
  "tools-call-elicitation",
  "elicitation-sep1034-defaults",
  "server-sse-multiple-streams",
  "elicitation-sep1330-enums",
  "resources-list",
  "resources-read-text",
  "resources-read-binary",
  "resources-templates-read",
  "resources-subscribe",
  "resources-unsubscribe",
  "prompts-get-simple",
  "prompts-get-with-args",
  "prompts-get-embedded-resource",
  "prompts-get-with-image",
];

test("the protocol's own test program finds no fault in what the server offers", async () => {
  await using passing = await withCredential(running.seed.token);
  const folder = mkdtempSync(join(tmpdir(), "slipway-conformance-"));
  const baseline = join(folder, "baseline.yaml");
  writeFileSync(baseline, `server:\n${doesNotApply.map((name) => `  - ${name}\n`).join("")}`);
  const program = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const words = [program, "server", "--url", passing.url, "--expected-failures", baseline];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: folder }).catch(Object);
    const summary = String(stdout).split("=== SUMMARY ===")[1] ?? stdout;
    for (const name of ["server-initialize", "ping", "tools-list", "prompts-list"]) {
      expect(summary).toContain(`✓ ${name}: 1 passed, 0 failed`);
    }
    expect(summary).toContain("✓ dns-rebinding-protection: 2 passed, 0 failed");
    // Neither a failure that is not listed nor a listed one that does not happen.
    expect(summary).toContain("Baseline check passed");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);

test("the client of the first version, and that of the current specification", async () => {
  const url = new URL(`${running.seed.baseUrl}/mcp`);
  const requestInit = { headers: { authorization: `Bearer ${running.seed.token}` } };
  const old = new OldClient({ name: "test", version: "1" });
  await old.connect(new OldTransport(url, { requestInit }) as Parameters<typeof old.connect>[0]);
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect((await old.listTools()).tools.map(({ name }) => name)).toEqual(names);
  for (const answer of [
    await old.callTool({ name: "list_projects", arguments: {} }),
    await client.callTool({ name: "list_projects", arguments: {} }),
  ]) {
    expect([answer.isError ?? false, JSON.stringify(answer)]).toEqual([
      false,
      expect.stringContaining(running.seed.projectId),
    ]);
  }
  await old.close();
  await client.close();
});
