import { StopServiceDeploymentCommand } from "@aws-sdk/client-ecs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { taskAddress } from "../../../local/ecs/task-address.ts";
import { findExecutable } from "../../../local/process/executable.ts";
import { direct, isRunning, searchPath, TestCluster, testHeader, until, versionAt } from "./cluster.ts";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await new TestCluster().start();
});
afterAll(() => cluster.remove());

const eventLike = (name: string, pattern: RegExp) =>
  until(async () => (await cluster.describe(name)).events?.find(({ message }) => pattern.test(message ?? "")));

async function giveUp(name: string): Promise<void> {
  const { serviceDeploymentArn } = await cluster.deployment(name);
  await cluster.client.send(new StopServiceDeploymentCommand({ serviceDeploymentArn, stopType: "ROLLBACK" }));
  await cluster.untilStatus(name, "ROLLBACK_SUCCESSFUL");
}

describe.concurrent("a bad version never gets traffic", () => {
  test("when it answers 500, which is reported once with its latest time", async () => {
    await cluster.create("five", await cluster.register({ VERSION: "1" }), direct);
    await cluster.untilStatus("five", "SUCCESSFUL");
    await cluster.update("five", await cluster.register({ MODE: "500" }));
    const said =
      /^\(service five\) \(port 8080\) is unhealthy in \(target-group [^)]+\) due to \(reason Health checks failed with these codes: \[500\]\)$/;
    const first = await eventLike("five", said);
    const again = await until(async () => {
      const event = await eventLike("five", said);
      return event.createdAt && first.createdAt && event.createdAt > first.createdAt && event;
    });
    expect(again.id).toBe(first.id);
    const events = (await cluster.describe("five")).events ?? [];
    expect(events.filter(({ message }) => said.test(message ?? ""))).toHaveLength(1);
    expect(await cluster.deployment("five")).toMatchObject({ status: "IN_PROGRESS", lifecycleStage: "SCALE_UP" });
    expect(await versionAt(await cluster.url("five"), { [testHeader.name]: testHeader.value })).toBe("1");
    await giveUp("five");
    expect(await versionAt(await cluster.url("five"))).toBe("1");
  });

  test("when it exits: each exit is recorded, its last output is kept, and it is restarted", async () => {
    await cluster.create("exits", await cluster.register({ MODE: "exit", VERSION: "x" }));
    const stopped = await until(async () => {
      const tasks = await cluster.tasks("exits", "STOPPED");
      return tasks.length >= 2 && tasks;
    });
    for (const task of stopped) {
      expect(task).toMatchObject({
        lastStatus: "STOPPED",
        stopCode: "EssentialContainerExited",
        stoppedReason: "Essential container in task exited",
        containers: [{ name: "web", exitCode: 7 }],
      });
      const logStream = `app/web/${task.taskArn?.split("/").at(-1)}`;
      const lines = cluster.lines.filter((line) => line.logStream === logStream).map(({ message }) => message);
      expect(lines.sort()).toEqual(["no newline at the end", "starting x", "to stderr"]);
    }
    // The service counts an exit after the last health check has ended, a moment after the task has stopped.
    await until(async () => ((await cluster.describe("exits")).deployments?.[0]?.failedTasks ?? 0) >= 2);
    await giveUp("exits");
    const count = (await cluster.tasks("exits", "STOPPED")).length;
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect((await cluster.tasks("exits", "STOPPED")).length).toBe(count);
  });

  test("when it does not listen", async () => {
    await cluster.create("deaf", await cluster.register({ MODE: "deaf" }));
    const where = process.platform === "linux" ? "; the task listens on no port" : "";
    const { message } = await eventLike("deaf", /reason Health checks failed/);
    expect(message).toContain(`(reason Health checks failed${where})`);
    await giveUp("deaf");
  });

  test("when it listens on another port, which is named in the report", async () => {
    await cluster.create("elsewhere", await cluster.register({ MODE: "elsewhere" }));
    const { message } = await eventLike("elsewhere", /reason Health checks failed/);
    const said = await until(() => cluster.lines.find((line) => /^listening on \d+/.test(line.message)));
    if (process.platform === "linux")
      expect(message).toContain(`; the task listens on port ${said.message.split(" ").at(-1)})`);
    const notice = `Slipway: the app listens on port ${said.message.split(" ").at(-1)}, but requests arrive on port 8080 (PORT).`;
    if (process.platform === "linux") await until(() => cluster.lines.some((line) => line.message === notice));
    await giveUp("elsewhere");
  });

  test.runIf(process.platform === "linux")(
    "when it listens on the loopback address only, as in a container",
    async () => {
      await cluster.create("loopback", await cluster.register({ MODE: "loopback" }));
      const { message } = await eventLike("loopback", /reason Health checks failed/);
      expect(message).toContain("(reason Health checks failed; the task listens on 127.0.0.1:8080 only)");
      const advice = "Slipway: the app listens on 127.0.0.1:8080 only. Listen on 0.0.0.0.";
      await until(() => cluster.lines.some((line) => line.message === advice));
      await giveUp("loopback");
      expect(cluster.lines.filter((line) => line.message === advice)).toHaveLength(1);
    },
  );

  test("when it hangs", async () => {
    await cluster.create("hangs", await cluster.register({ MODE: "hang" }));
    expect((await eventLike("hangs", /is unhealthy/)).message).toMatch(/\(reason Request timed out\)$/);
    await giveUp("hangs");
  });

  test("when it cannot be pulled or executed", async () => {
    await cluster.create("unpulled", await cluster.register({}, "unknown"));
    const [task] = await until(async () => {
      const tasks = await cluster.tasks("unpulled", "STOPPED");
      return tasks.length > 0 && tasks;
    });
    expect(task).toMatchObject({
      stopCode: "TaskFailedToStart",
      stoppedReason: "CannotPullContainerError: no such image",
    });
    expect(task?.startedAt).toBeUndefined();
    await cluster.update("unpulled", await cluster.register({}, "nothing"));
    await until(async () =>
      (await cluster.tasks("unpulled", "STOPPED")).some(({ stoppedReason }) =>
        /no-such-command/.test(stoppedReason ?? ""),
      ),
    );
    await giveUp("unpulled");
  });

  test("when it ignores SIGTERM: it is killed", async () => {
    await cluster.create("stubborn", await cluster.register({ MODE: "stubborn" }, "app", { stopTimeout: 1 }));
    await cluster.untilPaused("stubborn");
    const url = await cluster.url("stubborn");
    const answer = await fetch(url, { headers: { [testHeader.name]: testHeader.value } });
    const { pid } = (await answer.json()) as { pid: number };
    await giveUp("stubborn");
    expect(isRunning(pid)).toBe(false);
  });
});

test("the exit of a live app is recorded, and the app is restarted", async () => {
  await cluster.create("phoenix", await cluster.register({ VERSION: "1" }), direct);
  await cluster.untilStatus("phoenix", "SUCCESSFUL");
  const url = await cluster.url("phoenix");
  const { pid } = (await (await fetch(url)).json()) as { pid: number };
  expect((await fetch(`${url}/exit`)).status).toBe(502);
  await until(async () => (await cluster.tasks("phoenix", "STOPPED")).length > 0);
  const again = (await (await fetch(url)).json()) as { pid: number };
  expect(again.pid).not.toBe(pid);
  expect(await cluster.tasks("phoenix", "STOPPED")).toMatchObject([
    { stopCode: "EssentialContainerExited", containers: [{ exitCode: 9 }] },
  ]);
  expect(await cluster.tasks("phoenix", "RUNNING")).toHaveLength(1);
});

test("two versions of an app that ignores PORT do not conflict on the container's port", async () => {
  await cluster.create("fixed", await cluster.register({ MODE: "fixed", VERSION: "1" }), direct);
  await cluster.untilStatus("fixed", "SUCCESSFUL");
  const url = await cluster.url("fixed");
  expect(await versionAt(url)).toBe("1");
  await cluster.update("fixed", await cluster.register({ MODE: "fixed", VERSION: "2" }));
  await cluster.untilStatus("fixed", "SUCCESSFUL");
  expect(await versionAt(url)).toBe("2");
});

test("two versions of a Python app do not conflict either, and the app's own sitecustomize still runs", async () => {
  if (!findExecutable("python3", "/", searchPath)) return;
  const script = `py:
import http.server, json, sys, sitecustomize
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"version": getattr(sitecustomize, "VERSION", "none")}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(("0.0.0.0", 8080), Handler).serve_forever()`;
  const definition = () => cluster.register({ PYTHONPATH: "python" }, script);
  await cluster.create("python", await definition(), direct);
  await cluster.untilStatus("python", "SUCCESSFUL");
  await cluster.update("python", await definition());
  await cluster.untilStatus("python", "SUCCESSFUL");
  expect(await versionAt(await cluster.url("python"))).toBe("its own");
});

test("a task has the environment of its task definition, with its own port", async () => {
  const text = 'a "b" $C \\ ✓\n`d`';
  await cluster.create("env", await cluster.register({ HOST: "0.0.0.0", TEXT: text, PPID: "1" }), direct);
  await cluster.untilStatus("env", "SUCCESSFUL");
  const env = (await (await fetch(`${await cluster.url("env")}/env`)).json()) as Record<string, string>;
  expect(env).toMatchObject({ HOST: await taskAddress(), TEXT: text, PPID: "1", PATH: searchPath });
  expect(Number(env.PORT)).not.toBe(8080);
  expect(Object.keys(env).sort()).toEqual(
    ["HOST", "NODE_OPTIONS", "PATH", "PORT", "PPID", "PYTHONPATH", "SLIPWAY_PORT_MAP", "SLIPWAY_TASK", "TEXT"].sort(),
  );
});
