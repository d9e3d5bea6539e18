import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { openTable } from "../api/faults/guarded-service.ts";
import { address, deploy, nodeApp } from "../harness/app.ts";
import type { Running } from "../harness/service.ts";
import { type MortalService, startMortal } from "./faults/mortal-service.ts";

describe("a project whose port another program has taken", () => {
  const left: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of left.splice(0).reverse()) await end();
  });

  async function start(): Promise<MortalService> {
    const table = await openTable();
    left.push(() => table.close());
    const service = await startMortal(table.gate.endpoint);
    left.push(() => service.remove());
    return service;
  }

  const asRunning = ({ project, call }: MortalService) => ({ project, call }) as Running;

  async function take(url: string): Promise<number> {
    const port = Number(new URL(url).port);
    const server: Server = createServer((socket) => socket.destroy()).listen(port, "127.0.0.1");
    await once(server, "listening");
    left.push(() => void server.close());
    return port;
  }

  test("gets another port before its first build, which warns about it", async () => {
    const service = await start();
    const running = asRunning(service);
    const port = await take(await address(running));
    const build = await deploy(running, nodeApp("res.end('first')"));
    expect(build).toMatchObject({ status: "ready", error: null });
    const holder = process.platform === "linux" ? ` by .+ \\(process ${process.pid}\\)` : "";
    expect(build.warning).toMatch(new RegExp(`^Port ${port} of this machine is in use${holder}`));
    const now = await address(running);
    expect(build.warning).toContain(`The app's address is now ${now}`);
    expect(await (await fetch(now)).text()).toBe("first");
  });

  test("gets another port after a restart, and keeps it", async () => {
    const service = await start();
    const before = asRunning(service);
    expect((await deploy(before, nodeApp("res.end('old')"))).status).toBe("ready");
    const url = await address(before);
    service.kill();
    await service.gone();
    // The port of the killed service is free after its sockets are closed.
    await sleep(500);
    const port = await take(url);
    await service.start();
    const after = asRunning(service);
    const build = await deploy(after, nodeApp("res.end('new')"));
    expect(build).toMatchObject({ status: "ready", error: null });
    const now = await address(after);
    expect(now).not.toBe(url);
    expect(Number(new URL(now).port)).not.toBe(port);
    expect(await (await fetch(now)).text()).toBe("new");
    service.kill();
    await service.gone();
    await service.start();
    expect(await address(asRunning(service))).toBe(now);
    expect(await (await fetch(now)).text()).toBe("new");
  });
});
