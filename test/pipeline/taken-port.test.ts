import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { address, deploy, nodeApp } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";

describe("a project whose port another program has taken", () => {
  const left: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of left.splice(0).reverse()) await end();
  });

  /** Listens at the port of an address, as soon as the service that ended has left it. */
  async function take(url: string): Promise<number> {
    const port = Number(new URL(url).port);
    const server: Server = createServer((socket) => socket.destroy());
    left.push(() => void server.close());
    const listen = () => once(server.listen(port, "127.0.0.1"), "listening");
    await vi.waitFor(listen, { timeout: 60_000, interval: 100 });
    return port;
  }

  /** Ends the service; the ports are stored as a kill would leave them. */
  async function end(running: Running): Promise<void> {
    const file = join(running.home, "ports.json");
    const stored = readFileSync(file);
    await running.stop("keep");
    writeFileSync(file, stored);
  }

  test("gets another port before its first build, which warns about it, and after a restart, and keeps it", async () => {
    let running = await startRunning();
    left.push(() => running.stop());
    const port = await take(await address(running));
    const build = await deploy(running, nodeApp("res.end('first')"));
    expect(build).toMatchObject({ status: "ready", error: null });
    const holder = process.platform === "linux" ? ` by .+ \\(process ${process.pid}\\)` : "";
    expect(build.warning).toMatch(new RegExp(`^Port ${port} of this machine is in use${holder}`));
    const now = await address(running);
    expect(build.warning).toContain(`The app's address is now ${now}`);
    expect(await (await fetch(now)).text()).toBe("first");

    await end(running);
    const second = await take(now);
    running = await startRunning(running.home);
    expect(await deploy(running, nodeApp("res.end('new')"))).toMatchObject({ status: "ready", error: null });
    const moved = await address(running);
    expect([port, second]).not.toContain(Number(new URL(moved).port));
    expect(await (await fetch(moved)).text()).toBe("new");
    await end(running);
    running = await startRunning(running.home);
    expect(await address(running)).toBe(moved);
    expect(await (await fetch(moved)).text()).toBe("new");
  });
});
