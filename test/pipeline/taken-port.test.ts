import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
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

  /** Listens at the port of an address, as soon as the service that was killed has left it. */
  async function take(url: string): Promise<number> {
    const port = Number(new URL(url).port);
    const server: Server = createServer((socket) => socket.destroy());
    left.push(() => void server.close());
    const listen = () => once(server.listen(port, "127.0.0.1"), "listening");
    await vi.waitFor(listen, { timeout: 60_000, interval: 100 });
    return port;
  }

  test("gets another port before its first build, which warns about it, and after a restart, and keeps it", async () => {
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

    service.kill();
    await service.gone();
    const second = await take(now);
    await service.start();
    const after = asRunning(service);
    expect(await deploy(after, nodeApp("res.end('new')"))).toMatchObject({ status: "ready", error: null });
    const moved = await address(after);
    expect([port, second]).not.toContain(Number(new URL(moved).port));
    expect(await (await fetch(moved)).text()).toBe("new");
    service.kill();
    await service.gone();
    await service.start();
    expect(await address(asRunning(service))).toBe(moved);
    expect(await (await fetch(moved)).text()).toBe("new");
  });
});
