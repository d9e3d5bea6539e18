import { rmSync } from "node:fs";
import { jsonOf, type Measured, median, startProcess } from "./measure.ts";

/** What a tool's call may take beyond the route that it calls. */
const addedMsMax = 30;
const rounds = 150;
const warmUps = 50;

/** Compares a tool's call with the route that it calls, one after the other. */
export async function benchMcp(): Promise<Measured[]> {
  const service = await startProcess();
  try {
    const [orgId, projectId] = service.project.split("/").filter((part) => /^(org|prj)_/.test(part));
    const authorization = `Bearer ${service.key}`;
    const params = { name: "list_builds", arguments: { orgId, projectId, limit: 10 } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const accept = "application/json, text/event-stream";
    const headers = { authorization, accept, "content-type": "application/json" };
    const route = () => jsonOf(fetch(`${service.project}/builds?limit=10`, { headers: { authorization } }));
    const tool = () => jsonOf(fetch(`${service.baseUrl}/mcp`, { method: "POST", headers, body }));
    const times: { route: number[]; tool: number[] } = { route: [], tool: [] };
    for (let round = 0; round < warmUps + rounds; round += 1) {
      for (const [name, call] of [["route", route] as const, ["tool", tool] as const]) {
        const began = performance.now();
        await call();
        if (round >= warmUps) times[name].push(performance.now() - began);
      }
    }
    const [alone, whole] = [median(times.route), median(times.tool)];
    const detail = `p50 of a tool's call ${whole.toFixed(1)} ms, of its route ${alone.toFixed(1)} ms`;
    return [{ name: `mcp: added by a call / ${addedMsMax} ms`, ratio: (whole - alone) / addedMsMax, bound: 1, detail }];
  } finally {
    await service.stop();
    rmSync(service.home, { recursive: true, force: true });
  }
}
