import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { DescribeTasksCommand, RunTaskCommand, StopTaskCommand, type Task } from "@aws-sdk/client-ecs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ContainerBackend } from "../../../local/containers/container-backend.ts";
import { testEngine } from "../../harness/engine.ts";
import { direct, TestCluster, until } from "./cluster.ts";
import { app, containersOf, imageOf, running } from "./container-cluster.ts";

/** An address of this machine in the network that it is in. */
const outside = Object.entries(networkInterfaces())
  .filter(([name]) => !/^(br-|docker|veth)/.test(name))
  .flatMap(([, addresses = []]) => addresses)
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;
/** How much output one task writes, in MiB. */
const outputSize = process.env.SLIPWAY_TESTS === "all" ? 1024 : 64;

describe.skipIf((await testEngine()).kind === "none")("containers of a Docker engine", { timeout: 120_000 }, () => {
  const cluster = new TestCluster();
  let backend: ContainerBackend;
  let api: Server;
  let apiHost: string;

  beforeAll(async () => {
    backend = await containersOf(cluster.dir);
    api = createServer((_request, response) => response.end("the API"));
    await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
    apiHost = await backend.openApi((api.address() as AddressInfo).port);
    await cluster.start({ runner: backend.runner });
  }, 600_000);
  afterAll(async () => {
    await cluster.remove();
    await backend.close();
    api.close();
  });

  const define = (project: string, code: string, env: Record<string, string> = {}, more: object = {}) =>
    cluster.register(env, imageOf(project), running(code, more));
  async function serve(name: string, env: Record<string, string> = {}, project = name): Promise<string> {
    await cluster.create(name, await define(project, app, { SLIPWAY_URL: "http://127.0.0.1:4000", ...env }), direct);
    await untilDone(name);
    return cluster.url(name);
  }
  const untilDone = (name: string) =>
    until(async () => (await cluster.deployment(name)).status === "SUCCESSFUL", 60_000);
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the app answers
  async function ask(url: string, path: string, query: Record<string, string> = {}): Promise<any> {
    return (await fetch(`${url}${path}?${new URLSearchParams(query)}`)).json();
  }

  /** Runs a task of its own to its end. */
  async function runTask(code: string, more: object = {}): Promise<Task> {
    const taskDefinition = await define("single", code, {}, more);
    const { tasks } = await cluster.client.send(new RunTaskCommand({ cluster: "slipway", taskDefinition }));
    return ended(tasks?.[0]?.taskArn ?? "", 600_000);
  }
  const ended = (arn: string, timeoutMs = 60_000): Promise<Task> =>
    until(async () => {
      const { tasks } = await cluster.client.send(new DescribeTasksCommand({ cluster: "slipway", tasks: [arn] }));
      return tasks?.[0]?.lastStatus === "STOPPED" && tasks[0];
    }, timeoutMs);
  const output = (task: Task) =>
    cluster.lines.filter(({ logStream }) => logStream.endsWith(task.taskArn?.split("/").at(-1) ?? "-"));

  test("a new version replaces the old one without a lost request; both streams of output are kept", async () => {
    const url = await serve("swap", { VERSION: "1" });
    const answers: Promise<number>[] = [];
    const timer = setInterval(() => answers.push(fetch(url).then(({ status }) => status)), 20);
    await cluster.update("swap", await define("swap", app, { VERSION: "2" }), { deploymentConfiguration: direct });
    await until(async () => (await ask(url, "/")).version === "2", 60_000);
    await untilDone("swap");
    clearInterval(timer);
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
    expect(cluster.lines.map(({ message }) => message)).toEqual(
      expect.arrayContaining(["starting 1", "starting 2", "to stderr"]),
    );
    const stopped = await until(async () => {
      const tasks = await cluster.tasks("swap", "STOPPED");
      return tasks.every(({ lastStatus }) => lastStatus === "STOPPED") && tasks;
    }, 60_000);
    expect(stopped.map(({ containers }) => containers?.[0]?.exitCode)).toEqual([143]);
  });

  test("an app that ends is started again, and its exit code is known", async () => {
    const url = await serve("again");
    await fetch(`${url}/exit`).catch(() => undefined);
    const [stopped] = await until(async () => {
      const tasks = await cluster.tasks("again", "STOPPED");
      return tasks.length > 0 && tasks;
    }, 60_000);
    expect(stopped?.containers?.[0]?.exitCode).toBe(9);
    expect((await ask(url, "/")).version).toBeUndefined();
  });

  test("an app has no rights, the memory of its definition, and writes to no folder of the system", async () => {
    const inside = await ask(await serve("rights"), "/inside", { path: cluster.dir });
    expect(inside.sees).toBe(false);
    expect(inside.memory).toBe(512 * 1024 * 1024);
    expect(inside.status).toMatch(/CapEff:\s+0000000000000000\n/);
    expect(inside.status).toMatch(/CapBnd:\s+0000000000000000\n/);
    expect(inside.status).toMatch(/NoNewPrivs:\s+1\n/);
    expect(inside.first).toContain("docker-init");
    expect([inside.uid, inside.writes]).toEqual([1000, ["/tmp/x"]]);
    // Here /app is missing, which an image has; docs/isolation.md names all of them.
    expect(inside.writable.sort()).toEqual(["/home/node", "/run/lock", "/tmp", "/var/tmp"]);
    expect(inside.env.NODE_OPTIONS).toBeUndefined();
    expect(inside.env.PORT).toBe("8080");
  });

  test("an app reaches the service and STS, but no other port of this machine and no other app", async () => {
    const [one, two, same] = await Promise.all([serve("one"), serve("two"), serve("one-more", {}, "one")]);
    const { env } = await ask(one, "/inside");
    expect(env.SLIPWAY_URL).toBe(`http://${apiHost}`);
    expect((await ask(one, "/get", { url: env.SLIPWAY_URL })).body).toBe("the API");
    const hidden = createServer(() => undefined);
    await new Promise<void>((resolve) => hidden.listen(0, "127.0.0.1", resolve));
    const { port } = hidden.address() as AddressInfo;
    const hostAccess = new URL(env.AWS_ENDPOINT_URL_STS);
    const reach = (host: string, at: number | string) => ask(one, "/try", { host, port: String(at) });
    const others = await Promise.all([two, same].map(async (url) => (await ask(url, "/inside")).address));
    const found = {
      sts: await reach(hostAccess.hostname, hostAccess.port || 80),
      hidden: await Promise.all(["127.0.0.1", hostAccess.hostname].map((host) => reach(host, port))),
      apps: await Promise.all(others.map((address) => reach(address, 8080))),
      published: await reach(hostAccess.hostname, new URL(two).port),
    };
    hidden.close();
    expect(found).toEqual({
      sts: "open",
      hidden: ["closed", "closed"],
      apps: ["closed", "closed"],
      published: "closed",
    });
  });

  test.skipIf(!outside)("an app reaches addresses outside of its network, as on AWS", async () => {
    const server = createServer((_request, response) => response.end("outside"));
    await new Promise<void>((resolve) => server.listen(0, outside, resolve));
    const { port } = server.address() as AddressInfo;
    const found = await ask(await serve("outward"), "/get", { url: `http://${outside}:${port}` });
    server.close();
    expect(found).toEqual({ status: 200, body: "outside" });
  });

  test("a definition with a read-only root file system leaves only /tmp to write to", async () => {
    const task = await runTask(
      `import { writeFileSync } from "node:fs";
      for (const path of ["/tmp/x", "/var/tmp/x", "/home/node/x"])
        try { writeFileSync(path, ""); console.log(path); } catch ({ code }) { console.log(code); }`,
      { readonlyRootFilesystem: true },
    );
    expect(output(task).map(({ message }) => message)).toEqual(["/tmp/x", "EROFS", "EROFS"]);
  });

  test("a task gets the credentials of its own task only, at the address of the ECS agent", async () => {
    const [one, two] = await Promise.all([serve("mine"), serve("yours")]);
    const [mine, yours] = await Promise.all([one, two].map(async (url) => (await ask(url, "/inside")).env));
    const addressOf = (env: Record<string, string>) =>
      env.AWS_CONTAINER_CREDENTIALS_FULL_URI ?? `http://169.254.170.2${env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI}`;
    const get = (url: string, token: string) => ask(one, "/get", { url, token });
    const own = await get(addressOf(mine), mine.AWS_CONTAINER_AUTHORIZATION_TOKEN);
    expect(JSON.parse(own.body)).toMatchObject({ RoleArn: "arn:aws:iam::000000000000:role/slipway-app" });
    expect((await get(addressOf(yours), mine.AWS_CONTAINER_AUTHORIZATION_TOKEN)).status).toBe(403);
  });

  test("an app that listens only on the loopback address is not reached, and the event says where it listens", async () => {
    await cluster.create("loopback", await define("loopback", app, { LISTEN: "127.0.0.1" }));
    // On a busy machine, the first events say that the app does not listen yet.
    await until(async () => {
      const { events = [] } = await cluster.describe("loopback");
      return events.find(({ message }) => message?.includes("the task listens on 127.0.0.1:8080 only"));
    }, 30_000);
    expect(cluster.lines.map(({ message }) => message)).toContain(
      "Slipway: the app listens on 127.0.0.1:8080 only. Listen on 0.0.0.0.",
    );
  });

  test("a task that uses too much memory is ended, and the reason says so", async () => {
    const task = await runTask("const all = []; for (;;) all.push(Buffer.alloc(16 << 20, 1));");
    expect(task.containers?.[0]).toMatchObject({
      exitCode: 137,
      reason: "OutOfMemoryError: Container killed due to memory usage",
    });
  });

  test("a task that starts processes without end reaches its limit, and this machine does not", async () => {
    const task = await runTask(`
      import { spawn } from "node:child_process";
      let count = 0;
      const next = () => {
        const child = spawn("sleep", ["60"]);
        child.once("error", ({ code }) => { console.log(code, count); process.exit(0); });
        child.once("spawn", () => { count += 1; next(); });
      };
      next();`);
    const [line] = output(task);
    expect(line?.message).toMatch(/^EAGAIN \d+$/);
    expect(Number(line?.message.split(" ")[1])).toBeLessThan(512);
  });

  test("the output of a task is kept in order and does not fill this process, however much it is", async () => {
    const lines: string[] = [];
    let isWatching = true;
    // Only the numbers of the lines are kept.
    const push = cluster.lines.push;
    cluster.lines.push = (...added) => {
      for (const { message } of added) if (isWatching) lines.push(message.slice(0, 8));
      return 0;
    };
    const before = process.memoryUsage().rss;
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 50);
    const task = await runTask(`
      let number = 0;
      const line = () => String(number++).padStart(8, "0") + "x".repeat(16375) + "\\n";
      for (let i = 0; i < ${outputSize}; i++)
        await new Promise((done) => process.stdout.write(Array.from({ length: 64 }, line).join(""), done));
      console.log("last");`).finally(() => {
      isWatching = false;
      cluster.lines.push = push;
      clearInterval(timer);
    });
    expect(task.containers?.[0]?.exitCode).toBe(0);
    expect(lines.length).toBe(outputSize * 64 + 1);
    expect(lines.pop()).toBe("last");
    expect(lines).toEqual(lines.map((_, index) => String(index).padStart(8, "0")));
    expect(peak - before).toBeLessThan(192 * 1024 * 1024);
  }, 600_000);

  test("a task that ignores SIGTERM is killed after its time", async () => {
    const code = 'process.on("SIGTERM", () => console.log("ignored")); setInterval(() => {}, 1000); console.log("up");';
    const taskDefinition = await define("single", code, {}, { stopTimeout: 1 });
    const { tasks } = await cluster.client.send(new RunTaskCommand({ cluster: "slipway", taskDefinition }));
    const task = tasks?.[0]?.taskArn ?? "";
    await until(() => output({ taskArn: task }).length > 0, 30_000);
    await cluster.client.send(new StopTaskCommand({ cluster: "slipway", task }));
    expect((await ended(task)).containers?.[0]?.exitCode).toBe(137);
    expect(output({ taskArn: task }).map(({ message }) => message)).toEqual(["up", "ignored"]);
  });

  test("a command that the image does not have fails the start", async () => {
    const task = await runTask("", { entryPoint: ["no-such-command"], linuxParameters: undefined });
    expect(task.stopCode).toBe("TaskFailedToStart");
    expect(task.stoppedReason).toMatch(
      /^CannotStartContainerError: exec: "no-such-command": executable file not found in \$PATH$/,
    );
  });
});
