import { setTimeout as delay } from "node:timers/promises";
import { CreateServiceCommand } from "@aws-sdk/client-ecs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { direct, isRunning, paused, TestCluster, testHeader, until } from "./cluster.ts";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await new TestCluster().start();
});
afterAll(() => cluster.remove());

async function create(name: string, taskDefinition: string, desiredCount: number, configuration: object = direct) {
  await cluster.client.send(
    new CreateServiceCommand({
      cluster: "slipway",
      serviceName: name,
      taskDefinition,
      desiredCount,
      deploymentConfiguration: configuration,
      gatewayConnectors: [{ portName: "http", healthCheck: { healthCheckTimeoutSeconds: 1 } }],
    }),
  );
}

async function answer(url: string, headers: Record<string, string> = {}): Promise<{ version: string; pid: number }> {
  const response = await fetch(url, { headers });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as { version: string; pid: number };
}

/** The processes that answered, when `count` of them have. */
async function pidsAt(url: string, count: number, headers: Record<string, string> = {}): Promise<number[]> {
  const pids = new Set<number>();
  await until(async () => pids.add((await answer(url, headers)).pid).size === count);
  return [...pids];
}

test("no request is lost while one of three tasks dies, and it is replaced", async () => {
  await create("three", await cluster.register({ VERSION: "1" }), 3);
  await cluster.untilStatus("three", "SUCCESSFUL");
  const url = await cluster.url("three");
  const pids = await pidsAt(url, 3);
  const answers: Promise<string>[] = [];
  const ask = () =>
    answers.push(
      answer(url).then(
        ({ version }) => version,
        (error: unknown) => String(error),
      ),
    );
  const timer = setInterval(ask, 20);
  await delay(100);
  const [dying = 0] = pids;
  process.kill(dying, "SIGKILL");
  await until(() => !isRunning(dying));
  await until(
    async () =>
      (await cluster.tasks("three", "RUNNING")).filter(({ lastStatus }) => lastStatus === "RUNNING").length === 3,
  );
  await delay(100);
  await until(async () => answers.length > 15);
  clearInterval(timer);
  expect([...new Set(await Promise.all(answers))]).toEqual(["1"]);
  const after = await pidsAt(url, 3);
  expect(after).not.toContain(dying);
  expect(await cluster.describe("three")).toMatchObject({ desiredCount: 3, runningCount: 3, pendingCount: 0 });
});

test("traffic moves only when all tasks are healthy, and a rollback restores all tasks of the previous version", async () => {
  await create("all", await cluster.register({ VERSION: "1" }), 2, direct);
  await cluster.untilStatus("all", "SUCCESSFUL");
  const url = await cluster.url("all");
  const before = await pidsAt(url, 2);
  // The second task to start finds the marker of the first and hangs.
  const marker = `${cluster.dir}/first-${Date.now()}`;
  const script = `mkdir ${marker} && exec node app.cjs; MODE=hang exec node app.cjs`;
  const half = await cluster.register({ VERSION: "2" }, `sh:${script}`);
  await cluster.update("all", half, { desiredCount: 2, deploymentConfiguration: paused });
  await until(async () =>
    (await cluster.describe("all")).events?.some(({ message }) => message?.includes("Request timed out")),
  );
  expect((await cluster.deployment("all")).lifecycleStage).toBe("SCALE_UP");
  expect((await answer(url, { [testHeader.name]: testHeader.value })).version).toBe("1");

  const good = await cluster.register({ VERSION: "3" });
  await cluster.update("all", good, { desiredCount: 5, deploymentConfiguration: paused });
  await cluster.untilPaused("all");
  const fresh = await pidsAt(url, 5, { [testHeader.name]: testHeader.value });
  await cluster.act("all", "ROLLBACK");
  expect((await pidsAt(url, 2)).sort()).toEqual(before.sort());
  await until(() => fresh.every((pid) => !isRunning(pid)));
});

test("a service is scaled up and down without losing a request, also after a restart", async () => {
  await create("scaled", await cluster.register({ VERSION: "1" }), 1);
  await cluster.untilStatus("scaled", "SUCCESSFUL");
  const definition = (await cluster.describe("scaled")).taskDefinition ?? "";
  await cluster.update("scaled", definition, { desiredCount: 3 });
  await pidsAt(await cluster.url("scaled"), 3);
  await cluster.stop();
  await cluster.start();
  const url = await cluster.url("scaled");
  await pidsAt(url, 3);
  const answers: Promise<unknown>[] = [];
  const timer = setInterval(() => answers.push(answer(url).then(({ version }) => version, String)), 10);
  // Requests before, during and after the change, however fast it is.
  const more = (count: number) => until(() => answers.length >= count);
  await more(3);
  await cluster.update("scaled", definition, { desiredCount: 1 });
  await until(async () => (await cluster.tasks("scaled", "RUNNING")).length === 1);
  await more(answers.length + 3);
  clearInterval(timer);
  expect([...new Set(await Promise.all(answers))]).toEqual(["1"]);
});
