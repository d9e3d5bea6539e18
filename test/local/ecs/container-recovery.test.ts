import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { readHomeInEngine } from "../../../local/containers/labels.ts";
import { nodeImage, testEngine } from "../../harness/engine.ts";
import {
  createService,
  direct,
  publicUrl,
  registerTask,
  TestCluster,
  testClient,
  until,
  versionAt,
} from "./cluster.ts";
import { app, containersOf, imageOf, running } from "./container-cluster.ts";

const engine = await testEngine();
const left: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of left.splice(0).reverse()) await end();
});

const docker = (...args: string[]): Promise<string> => {
  if (engine.kind === "none") throw new Error(engine.reason);
  return engine.docker.run(args);
};
const taskImage = imageOf("one");
const define = (cluster: TestCluster, VERSION: string) => cluster.register({ VERSION }, taskImage, running(app));
const containersOfHome = async (dir: string) =>
  (await docker("ps", "--all", "--quiet", "--filter", `label=slipway.home=${readHomeInEngine(dir)?.name}`))
    .split("\n")
    .filter(Boolean);
/** What the app answers at /inside and at /get. */
const inside = z.object({ env: z.record(z.string(), z.string()) });
const answered = z.object({ status: z.number() });
const networksOfHome = async (dir: string) =>
  docker("network", "ls", "--quiet", "--filter", `label=slipway.home=${readHomeInEngine(dir)?.name}`);
const answering = (url: string, version: string) =>
  until(
    () =>
      versionAt(url).then(
        (found) => found === version,
        () => false,
      ),
    60_000,
  );

async function start(cluster: TestCluster, socket?: string): Promise<void> {
  const backend = await containersOf(cluster.dir, socket);
  await cluster.start({ runner: backend.runner });
  left.push(async () => {
    await cluster.remove();
    await backend.close();
  });
}

/** The engine behind another socket, which can go away with all its connections. */
async function engineBehind(socket: string) {
  if (engine.kind === "none") throw new Error(engine.reason);
  const path = new URL(engine.host).pathname;
  const open = new Set<Socket>();
  const listen = async () => {
    const server = createServer((client) => {
      const real = connect(path);
      for (const [one, other] of [
        [client, real],
        [real, client],
      ] as const) {
        open.add(one);
        one
          .on("error", () => other.destroy())
          .on("close", () => {
            open.delete(one);
            other.destroy();
          });
        one.pipe(other);
      }
    });
    server.listen(socket);
    await once(server, "listening");
    return server;
  };
  let server = await listen();
  const stop = async () => {
    const closed = once(server, "close");
    server.close();
    for (const one of open) one.destroy();
    await closed;
  };
  left.push(stop);
  return {
    leave: stop,
    async comeBack() {
      if (existsSync(socket)) rmSync(socket);
      server = await listen();
    },
  };
}

describe.skipIf(engine.kind === "none")("containers after a crash", { timeout: 120_000 }, () => {
  test("after a SIGKILL of the service the next start serves the app at its address and removes only its own containers", async () => {
    const foreign = await docker("create", "--label", "slipway.home=another", nodeImage);
    left.push(() => docker("rm", "--force", foreign));
    const cluster = new TestCluster();
    const host = spawn(process.execPath, [join(import.meta.dirname, "fixtures/container-host.ts"), cluster.dir], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    left.push(() => host.kill("SIGKILL"));
    const [line] = (await once(host.stdout, "data")) as [Buffer];
    const client = testClient(line.toString().trim());
    left.push(() => client.destroy());
    await createService(client, "live", await registerTask(client, { VERSION: "1" }, taskImage, running(app)), direct);
    const url = await until(() => publicUrl(client, "live").catch(() => undefined), 60_000);
    await answering(url, "1");
    const ended = once(host, "exit");
    host.kill("SIGKILL");
    await ended;
    const orphans = await containersOfHome(cluster.dir);
    expect(orphans).toHaveLength(1);
    await start(cluster);
    await answering(url, "1");
    const own = await containersOfHome(cluster.dir);
    expect(own).toHaveLength(1);
    expect(own).not.toEqual(orphans);
    expect(await docker("inspect", "--format", "{{.State.Status}}", foreign)).toBe("created");
  });

  test("two services of one engine touch nothing of each other", async () => {
    const [first, second] = [new TestCluster(), new TestCluster()];
    await start(first);
    await first.create("live", await define(first, "first"), direct);
    const url = await until(() => first.url("live").catch(() => undefined), 60_000);
    await answering(url, "first");
    const containers = await containersOfHome(first.dir);
    const networks = await networksOfHome(first.dir);
    const backend = await containersOf(second.dir);
    await second.start({ runner: backend.runner });
    // The same project and the same name in both.
    await second.create("live", await define(second, "second"), direct);
    const other = await until(() => second.url("live").catch(() => undefined), 60_000);
    await answering(other, "second");
    const identityAt = async (address: string) => {
      const { env } = inside.parse(await (await fetch(`${address}/inside`)).json());
      const credentials =
        env.AWS_CONTAINER_CREDENTIALS_FULL_URI ?? `http://169.254.170.2${env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI}`;
      const query = new URLSearchParams({ url: credentials, token: env.AWS_CONTAINER_AUTHORIZATION_TOKEN ?? "" });
      return answered.parse(await (await fetch(`${address}/get?${query}`)).json()).status;
    };
    expect([await identityAt(url), await identityAt(other)]).toEqual([200, 200]);
    await second.remove();
    await backend.close();
    expect([await containersOfHome(first.dir), await networksOfHome(first.dir)]).toEqual([containers, networks]);
    expect([await versionAt(url), await identityAt(url)]).toEqual(["first", 200]);
  });

  test("an engine that goes away and comes back: a container that survived keeps its output, one that did not is started again", async () => {
    const cluster = new TestCluster();
    const socket = join(cluster.dir, "engine.sock");
    const proxy = await engineBehind(socket);
    await start(cluster, socket);
    await cluster.create("live", await define(cluster, "1"), direct);
    const url = await until(() => cluster.url("live").catch(() => undefined), 60_000);
    await answering(url, "1");
    const survivor = await containersOfHome(cluster.dir);

    await proxy.leave();
    await proxy.comeBack();
    // Output is lost only while the engine is away.
    await until(async () => {
      await fetch(`${url}/say?text=after`);
      return cluster.lines.some(({ message }) => message === "after");
    }, 60_000);
    expect(await containersOfHome(cluster.dir)).toEqual(survivor);

    await proxy.leave();
    await docker("kill", ...survivor);
    // A new version cannot start now, and the event says why.
    await cluster.update("live", await define(cluster, "2"));
    const event = await until(async () => {
      const { events = [] } = await cluster.describe("live");
      return events.find(({ message }) => message?.includes("failed to start"));
    }, 60_000);
    expect(event.message).toContain("CannotStartContainerError: The container engine does not answer.");
    await proxy.comeBack();
    await answering(url, "2");
    const stopped = await cluster.tasks("live", "STOPPED");
    expect(stopped.map(({ stoppedReason }) => stoppedReason)).toContain(
      "The container engine was stopped or restarted while the app ran",
    );
    expect(await containersOfHome(cluster.dir)).not.toEqual(expect.arrayContaining(survivor));
  });
});
