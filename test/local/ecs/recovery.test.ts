import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { type ECSClient, UpdateServiceCommand } from "@aws-sdk/client-ecs";
import { afterEach, expect, test } from "vitest";
import {
  createService,
  direct,
  hookAt,
  isRunning,
  paused,
  publicUrl,
  registerTask,
  searchPath,
  TestCluster,
  testClient,
  testHeader,
  until,
  versionAt,
} from "./cluster.ts";

const asTest = { [testHeader.name]: testHeader.value };
const left: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of left.splice(0).reverse()) await end();
});

async function startHost(dir: string): Promise<{ host: ChildProcess; client: ECSClient }> {
  const host = spawn(process.execPath, [join(import.meta.dirname, "fixtures/host.ts"), dir], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PATH: searchPath },
  });
  left.push(() => host.kill("SIGKILL"));
  const [line] = (await once(host.stdout, "data")) as [Buffer];
  const client = testClient(line.toString().trim());
  left.push(() => client.destroy());
  return { host, client };
}

/** The newest event of a service, which is written after the start has resolved if the machine is slow. */
const newestEvent = async (cluster: TestCluster, name: string) =>
  (await cluster.describe(name)).events?.[0]?.message ?? "";

async function pidAt(url: string, headers: Record<string, string> = {}): Promise<number> {
  const { pid } = (await (await fetch(url, { headers })).json()) as { pid: number };
  return pid;
}

test("after a SIGKILL no app is left; a restart serves the live app at its address and resumes the deployment", async () => {
  const cluster = new TestCluster();
  left.push(() => rmSync(cluster.dir, { recursive: true, force: true }));
  const { host, client } = await startHost(cluster.dir);
  cluster.client = client;
  await createService(client, "live", await registerTask(client, { VERSION: "1" }), paused);
  await cluster.act("live", "CONTINUE");
  await client.send(
    new UpdateServiceCommand({
      cluster: "slipway",
      service: "live",
      taskDefinition: await registerTask(client, { VERSION: "2" }),
    }),
  );
  const { hook } = await cluster.untilPaused("live");
  await createService(client, "shifted", await registerTask(client, { VERSION: "1" }), direct);
  await cluster.untilStatus("shifted", "SUCCESSFUL");
  await cluster.update("shifted", await registerTask(client, { VERSION: "2" }), {
    deploymentConfiguration: hookAt("POST_PRODUCTION_TRAFFIC_SHIFT"),
  });
  await cluster.untilPaused("shifted");
  await createService(client, "starting", await registerTask(client, { MODE: "hang" }), paused);
  await createService(client, "down", await registerTask(client, { VERSION: "1" }), paused);
  await cluster.act("down", "ROLLBACK");
  const urls = Object.fromEntries(
    await Promise.all(
      ["live", "shifted", "starting", "down"].map(async (name) => [name, await publicUrl(client, name)] as const),
    ),
  );
  const pids = [await pidAt(urls.live ?? ""), await pidAt(urls.live ?? "", asTest), await pidAt(urls.shifted ?? "")];
  host.kill("SIGKILL");
  await once(host, "exit");
  await until(() => !pids.some(isRunning));

  const revived = await cluster.start();
  left.push(() => revived.stop());
  expect(await versionAt(urls.live ?? "")).toBe("1");
  expect(await versionAt(urls.live ?? "", asTest)).toBe("2");
  expect(await cluster.url("live")).toBe(urls.live);
  const resumed = await cluster.untilPaused("live");
  expect(resumed.hook).toEqual(hook);
  expect(resumed.deployment.lifecycleStage).toBe("POST_TEST_TRAFFIC_SHIFT");
  await cluster.act("live", "CONTINUE");
  expect(await versionAt(urls.live ?? "")).toBe("2");

  expect(await versionAt(urls.shifted ?? "")).toBe("2");
  await cluster.act("shifted", "ROLLBACK");
  expect(await versionAt(urls.shifted ?? "")).toBe("1");

  expect(await cluster.deployment("starting")).toMatchObject({ status: "IN_PROGRESS", lifecycleStage: "SCALE_UP" });
  expect((await fetch(urls.down ?? "")).status).toBe(503);
  expect(await cluster.tasks("down", "RUNNING")).toEqual([]);
});

test("close stops every app within 4 s, also apps that ignore SIGTERM", { timeout: 60_000 }, async () => {
  const cluster = await new TestCluster().start();
  left.push(() => rmSync(cluster.dir, { recursive: true, force: true }));
  const pids: number[] = [];
  for (const [name, mode] of [
    ["a", "ok"],
    ["b", "stubborn"],
  ] as const) {
    await cluster.create(name, await cluster.register({ MODE: mode }, "app", { stopTimeout: 30 }), direct);
    await cluster.untilStatus(name, "SUCCESSFUL");
    pids.push(await pidAt(await cluster.url(name)));
  }
  await cluster.create("c", await cluster.register({ MODE: "deaf" }));
  const startedAt = performance.now();
  await cluster.stop();
  expect(performance.now() - startedAt).toBeLessThan(4500);
  expect(pids.filter(isRunning)).toEqual([]);
});

test("an app whose port stays taken moves to another port, which is reported until the report succeeds", {
  timeout: 60_000,
}, async () => {
  const first = await new TestCluster().start();
  left.push(() => rmSync(first.dir, { recursive: true, force: true }));
  await first.create("moves", await first.register({ VERSION: "1" }), direct);
  await first.untilStatus("moves", "SUCCESSFUL");
  const port = Number(new URL(await first.url("moves")).port);
  await first.stop();
  const squatter: Server = createServer().listen(port, "127.0.0.1");
  await once(squatter, "listening");
  left.push(() => void squatter.close());

  const told: string[] = [];
  const onMoved = async (name: string, url: string) => {
    told.push(`${name} ${url}`);
    if (told.length === 1) throw new Error("not now");
  };
  // It does not move before it is asked to.
  const second = await new TestCluster(first.dir).start({ onMoved, portTakenMs: 600_000 });
  const holder = process.platform === "linux" ? new RegExp(`in use by .+ \\(process ${process.pid}\\)`) : /in use by/;
  await expect.poll(() => newestEvent(second, "moves")).toMatch(holder);
  // A build reserves the address before it starts.
  const move = await second.ecs.reserveAddress("moves");
  expect(move).toMatchObject({ from: port });
  const url = await second.url("moves");
  expect(url).toBe(`http://127.0.0.1:${move?.to}`);
  expect(move?.to).not.toBe(port);
  expect(await versionAt(url)).toBe("1");
  expect(await second.ecs.reserveAddress("moves")).toBeUndefined();
  expect(told).toEqual([`moves ${url}`]);
  await second.stop();

  const third = await new TestCluster(first.dir).start({ onMoved });
  await until(() => told.length === 2);
  expect(told[1]).toBe(`moves ${url}`);
  await third.stop();
  const fourth = await new TestCluster(first.dir).start({ onMoved });
  left.push(() => fourth.stop());
  expect(await versionAt(await fourth.url("moves"))).toBe("1");
  expect(told).toHaveLength(2);
});

test("an app whose port stays taken moves to another port without a build too", { timeout: 60_000 }, async () => {
  const first = await new TestCluster().start();
  left.push(() => rmSync(first.dir, { recursive: true, force: true }));
  await first.create("stays", await first.register({ VERSION: "1" }), direct);
  await first.untilStatus("stays", "SUCCESSFUL");
  const url = await first.url("stays");
  await first.stop();
  const squatter: Server = createServer().listen(Number(new URL(url).port), "127.0.0.1");
  await once(squatter, "listening");
  left.push(() => void squatter.close());
  const second = await new TestCluster(first.dir).start({ portTakenMs: 100 });
  left.push(() => second.stop());
  const moved = await until(async () => {
    const now = await second.url("stays");
    return now !== url && now;
  });
  expect(await versionAt(moved)).toBe("1");
});

test("an app whose port another program uses is served as soon as the port is free", async () => {
  const first = await new TestCluster().start();
  left.push(() => rmSync(first.dir, { recursive: true, force: true }));
  await first.create("taken", await first.register({ VERSION: "1" }), direct);
  await first.untilStatus("taken", "SUCCESSFUL");
  const url = await first.url("taken");
  await first.stop();
  const squatter: Server = createServer().listen(Number(new URL(url).port), "127.0.0.1");
  await once(squatter, "listening");
  const second = await new TestCluster(first.dir).start({ portTakenMs: 600_000 });
  left.push(() => second.stop());
  await expect.poll(() => newestEvent(second, "taken")).toMatch(/port \d+ of this machine is in use/);
  squatter.close();
  await until(async () => (await versionAt(url).catch(() => "")) === "1");
});

test("a service that an earlier version named with an underscore serves on under its new name", async () => {
  const first = await new TestCluster().start();
  left.push(() => rmSync(first.dir, { recursive: true, force: true }));
  const [before, after] = ["prj_01jdqz5yqz0000000000000000", "prj-01jdqz5yqz0000000000000000"].map((id) => `app-${id}`);
  await first.create(before ?? "", await first.register({ VERSION: "1" }), direct);
  await first.untilStatus(before ?? "", "SUCCESSFUL");
  const url = await first.url(before ?? "");
  await first.stop();
  const second = await new TestCluster(first.dir).start();
  left.push(() => second.stop());
  expect([await second.url(after ?? ""), await versionAt(url)]).toEqual([url, "1"]);
  await expect(second.describe(before ?? "")).rejects.toThrow("no such service");
});
