import { beforeEach, describe, expect, test } from "vitest";
import { noSettings } from "../../../api/stored-settings.ts";
import { AwsError } from "../../../local/aws/service.ts";
import {
  appAndValues,
  type ChosenApp,
  type ChosenEcs,
  chosenEcs,
  type Deployment,
  definitionOf,
} from "./chosen-ecs.ts";
import { ago, begin, useSteps } from "./steps.ts";

let ecs: ChosenEcs;
let app: ChosenApp;
const steps = useSteps({ answers: () => ecs.answers, raw: [appAndValues(() => app)] });
beforeEach(() => {
  ecs = chosenEcs();
  app = { new: 200, public: 200, asked: [], values: {} };
});

type Task = ChosenEcs["tasks"][number];
const secondsGone = () => (Date.now() - begin.getTime()) / 1000;
const waiting = { verdict: "waiting", reason: null, ready: null };
/** When a hook that has been open for some seconds ends: 15 minutes after it opened. */
const openFor = (seconds: number) => ({ id: "hook", expiresAt: ago(seconds - 900) });

/** A build that is deployed, and the check of its health as the state machine asks for it. */
async function deploying(change: object = {}, { seconds = 0, url = steps.endpoint as string | null } = {}) {
  const project = await steps.newProject({ status: "deploying", port: 3000, ...change });
  const { buildId, deployment } = project;
  ecs.serves(buildId);
  const ours = ecs.deploy(definitionOf(buildId), { createdAt: ago(seconds) });
  const deployed = { serviceDeploymentArn: ours.arn, since: ago(seconds).toISOString(), url };
  return {
    ...project,
    ours,
    stream: (taskId: string) => `${project.projectId}/${buildId}/app/${taskId}`,
    task(task: Partial<Task>) {
      ecs.tasks.push({ id: "t1", buildId, status: "RUNNING", ...task });
    },
    check: () => steps.invoke("check-health", { deployment, deployed }),
    reason: async (): Promise<string> => {
      const { verdict, reason, ready } = await steps.invoke("check-health", { deployment, deployed });
      expect({ verdict, ready }).toEqual({ verdict: "unhealthy", ready: null });
      return reason;
    },
  };
}
/** ECS moves the traffic as soon as its hook is answered. */
function movesTraffic(deployment: Deployment, end: Partial<Deployment> = { status: "SUCCESSFUL" }): void {
  ecs.answers.ContinueServiceDeployment = () => {
    Object.assign(deployment, end, { hook: undefined });
    return {};
  };
}
/** Changes what AWS holds before the n-th look at the deployment. */
function atLook(look: number, change: () => void): void {
  const describe = ecs.answers.DescribeServiceDeployments;
  ecs.answers.DescribeServiceDeployments = (input) => {
    if (steps.inputs("DescribeServiceDeployments").length === look) change();
    return describe?.(input) ?? {};
  };
}
const tasksRead = (status: string) =>
  steps.inputs("ListTasks").filter(({ desiredStatus }) => desiredStatus === status).length;

describe("a healthy version", () => {
  test("gets the traffic after its first answer, and is healthy when ECS has moved it", async () => {
    const build = await deploying({ settings: { ...noSettings, healthPath: "/up" } });
    await build.succeeded("bld_2", "bld_1");
    build.task({ id: "t7" });
    build.ours.hook = openFor(1);
    movesTraffic(build.ours);
    expect(await build.check()).toEqual({
      verdict: "healthy",
      reason: null,
      ready: { warning: null, appLog: build.stream("t7"), successes: ["bld_2", "bld_1"] },
    });
    expect(steps.inputs("ContinueServiceDeployment")).toEqual([
      { serviceDeploymentArn: build.ours.arn, hookId: "hook", action: "CONTINUE" },
    ]);
    // The answer of the new version counts; the public address, which may still lead to the old one, is not asked.
    expect(app.asked).toEqual([["new", "/up"]]);
    // The deployment was read again at once.
    expect(Date.now()).toBe(begin.getTime());
  });

  test.each(["POST_PRODUCTION_TRAFFIC_SHIFT", "BAKE_TIME", "CLEAN_UP"])(
    "is healthy at the stage %s, before the old version is gone",
    async (stage) => {
      const build = await deploying();
      Object.assign(build.ours, { stage });
      expect(await build.check()).toMatchObject({ verdict: "healthy" });
      // Another invocation had the answer of the new version, so the public address tells.
      expect(app.asked).toEqual([["public", "/"]]);
    },
  );

  test.each([
    ["IN_PROGRESS", "PRODUCTION_TRAFFIC_SHIFT"],
    ["IN_PROGRESS", undefined],
    ["PENDING", undefined],
  ])("is not healthy before ECS has moved the traffic: %s %s", async (status, stage) => {
    const build = await deploying({}, { seconds: 10 });
    Object.assign(build.ours, { status, stage });
    expect(await build.check()).toEqual(waiting);
    expect(app.asked).toEqual([]);
  });

  test("that ECS rolls back after it was told to continue is not healthy", async () => {
    const build = await deploying();
    build.ours.hook = openFor(1);
    movesTraffic(build.ours, { status: "ROLLBACK_SUCCESSFUL", reason: "a hook failed" });
    expect(await build.reason()).toContain("ECS ended the deployment by itself: a hook failed.");
  });

  test("is told to continue again after ECS refused it, and only while its hook waits", async () => {
    const build = await deploying();
    build.ours.hook = { ...openFor(1), status: "SUCCEEDED" };
    atLook(3, () => Object.assign(build.ours, { hook: openFor(1) }));
    ecs.answers.ContinueServiceDeployment = () => {
      if (app.asked.length === 2) build.ours.status = "SUCCESSFUL";
      throw new AwsError("ConflictException", "The deployment is not waiting.");
    };
    expect(await build.check()).toMatchObject({ verdict: "healthy" });
    expect(app.asked).toEqual([
      ["new", "/"],
      ["new", "/"],
    ]);
    // Between the looks it pauses.
    expect(steps.inputs("DescribeServiceDeployments")).toHaveLength(5);
    expect(secondsGone()).toBe(0.016);
  });

  test("keeps the warnings of its build, and gets one for an answer that may be a mistake", async () => {
    const build = await deploying({ warning: "from the build" });
    build.ours.status = "SUCCESSFUL";
    app.public = 404;
    const { ready } = await build.check();
    expect(ready).toEqual({
      warning: "from the build\nThe app runs, but GET / answered 404. If that is not intended, check its routes.",
      appLog: null,
      successes: [],
    });
  });

  test("is asked at the public address if its own last answer was not healthy", async () => {
    const build = await deploying();
    build.ours.hook = openFor(1);
    app.new = 503;
    atLook(2, () => Object.assign(build.ours, { hook: undefined, status: "SUCCESSFUL" }));
    expect(await build.check()).toMatchObject({ verdict: "healthy", ready: { warning: null } });
    expect(app.asked).toEqual([
      ["new", "/"],
      ["public", "/"],
    ]);
  });

  test("is not probed or healthy before the gateway has an address for it", async () => {
    const build = await deploying({}, { url: null });
    build.ours.hook = openFor(1);
    atLook(4, () => Object.assign(build.ours, { hook: undefined, status: "SUCCESSFUL" }));
    atLook(6, () => Object.assign(ecs, { address: steps.endpoint }));
    expect(await build.check()).toMatchObject({ verdict: "healthy" });
    expect(steps.inputs("ListGatewayRoutes")).toHaveLength(6);
    expect(app.asked).toEqual([["public", "/"]]);
  });
});

describe("check-health", () => {
  test("is over for a build that is not deploying, or does not exist", async () => {
    const build = await deploying();
    await build.change({ status: "error" });
    await expect(build.check()).rejects.toMatchObject({ name: "BuildCanceled" });
    const event = { deployment: { ...build.deployment, buildId: "bld_none" } };
    const deployed = { serviceDeploymentArn: build.ours.arn, since: begin.toISOString(), url: null };
    await expect(steps.invoke("check-health", { ...event, deployed })).rejects.toMatchObject({ name: "BuildCanceled" });
    expect(steps.calls).toEqual([]);
  });

  test("looks often at first and at last once a second, and returns after 20 seconds", async () => {
    const build = await deploying();
    build.ours.isDescribed = false;
    const looks: number[] = [];
    const describeDeployments = ecs.answers.DescribeServiceDeployments;
    ecs.answers.DescribeServiceDeployments = (input) => {
      looks.push(secondsGone());
      return describeDeployments?.(input) ?? {};
    };
    expect(await build.check()).toEqual(waiting);
    const between = (from: number, to: number) => looks.filter((one) => one >= from && one < to).length;
    expect(between(0, 0.1)).toBe(25);
    expect(between(0.1, 2)).toBeGreaterThan(28);
    expect(between(0.1, 2)).toBeLessThan(36);
    expect(between(2, 4)).toBe(3);
    expect(between(2, 20)).toBeGreaterThan(17);
    expect(between(2, 20)).toBeLessThan(21);
    expect(secondsGone()).toBeGreaterThanOrEqual(20);
    expect(secondsGone()).toBeLessThan(21);
    // Later calls look once a second from the beginning.
    looks.length = 0;
    await build.check();
    expect(looks).toHaveLength(20);
  });

  test("is retried if ECS fails", async () => {
    const build = await deploying();
    ecs.answers.DescribeServiceDeployments = () => {
      throw new AwsError("ServerException", "Service Unavailable", 500);
    };
    await expect(build.check()).rejects.toMatchObject({ name: "TransientFault" });
  });
});

describe("a version is unhealthy", () => {
  test.each(["STOPPED", "STOP_REQUESTED", "ROLLBACK_IN_PROGRESS", "ROLLBACK_FAILED"])(
    "when ECS ends the deployment by itself: %s",
    async (status) => {
      const build = await deploying();
      build.ours.status = status;
      build.task({ status: "STOPPED", exitCode: 1 });
      ecs.streams[build.stream("t1")] = ["the last words"];
      expect(await build.reason()).toBe(
        "ECS ended the deployment by itself: it gave no reason.\nLast output:\nthe last words",
      );
      expect((await build.rows()).build).toMatchObject({ appLog: build.stream("t1"), status: "deploying" });
    },
  );

  test("also without any task, and then has no output", async () => {
    const build = await deploying({ runtime: "nodejs24.x", start: "node server.js" });
    build.ours.status = "STOPPED";
    expect(await build.reason()).toBe(
      "ECS ended the deployment by itself: it gave no reason.\nDetected: nodejs24.x, started with: node server.js\nThe app wrote no output.",
    );
    expect((await build.rows()).build).not.toHaveProperty("appLog");
    expect(steps.inputs("GetLogEvents")).toEqual([]);
  });

  test("as soon as its process exits, with its last 20 lines in which the build's variables are masked", async () => {
    const build = await deploying();
    app.values[build.buildId] = ["hunter2hunter2"];
    build.ours.running = 0;
    build.task({ status: "STOPPED", exitCode: 1, startedAt: ago(2.5), stoppedAt: ago(1) });
    const lines = Array.from({ length: 25 }, (_, n) => `line ${n}`);
    ecs.streams[build.stream("t1")] = [...lines, "password hunter2hunter2"];
    const reason = await build.reason();
    const [sentence, ...output] = reason.split("\n");
    expect(sentence).toBe("The app exited with code 1 after 1.5 s before it was healthy.");
    expect(output).toEqual(["Last output:", ...lines.slice(6), expect.stringMatching(/^password \S+$/)]);
    expect(reason).not.toContain("hunter2");
    expect((await build.rows()).build).toMatchObject({ appLog: build.stream("t1") });
    expect(Date.now()).toBe(begin.getTime());
  });

  test("as its first instance did, in whatever order ECS lists them", async () => {
    const build = await deploying();
    build.ours.running = 0;
    build.task({ id: "t2", status: "STOPPED", exitCode: 2, startedAt: ago(5), stoppedAt: ago(1) });
    build.task({ status: "STOPPED", exitCode: 1, startedAt: ago(5), stoppedAt: ago(2) });
    expect(await build.reason()).toContain("The app exited with code 1 after 3.0 s before it was healthy.");
  });

  test.each<[string, Partial<Task>, string]>([
    ["without a time, if ECS does not know when it started", { stoppedAt: begin }, "code 1 before it was healthy."],
    ["without a time, if ECS does not know when it ended", { startedAt: begin }, "code 1 before it was healthy."],
    [
      "for want of memory",
      { exitCode: 137, containerReason: "OutOfMemoryError: Container killed due to memory usage" },
      "used more than its 2048 MiB of memory",
    ],
    [
      "before it could start",
      { exitCode: undefined, stoppedReason: "CannotPullContainerError" },
      "CannotPullContainer",
    ],
  ])("when it ends %s", async (_, end, sentence) => {
    const build = await deploying({ settings: { ...noSettings, memory: 2048 } });
    build.task({ status: "STOPPED", exitCode: 1, ...end } as Task);
    expect(await build.reason()).toContain(sentence);
  });

  test("whose exit is looked for once a second while an instance runs, and at each look while none does", async () => {
    const build = await deploying({}, { seconds: 100 });
    expect(await build.check()).toEqual(waiting);
    expect(tasksRead("STOPPED")).toBe(20);
    steps.calls.length = 0;
    const young = await deploying();
    expect(await young.check()).toEqual(waiting);
    const looks = () => steps.inputs("DescribeServiceDeployments").length;
    expect(looks()).toBeGreaterThan(70);
    expect(tasksRead("STOPPED")).toBeGreaterThan(17);
    expect(tasksRead("STOPPED")).toBeLessThan(22);
    steps.calls.length = 0;
    const idle = await deploying();
    idle.ours.running = 0;
    expect(await idle.check()).toEqual(waiting);
    expect(tasksRead("STOPPED")).toBe(looks());
  });

  test("when it was not healthy within its time, which counts from the moment its hook opened", async () => {
    const build = await deploying({}, { seconds: 300 });
    build.ours.hook = openFor(110);
    build.task({ startedAt: ago(200) });
    app.new = 500;
    // The limit of the service is 120 seconds.
    expect(await build.reason()).toMatch(/^The last probe, GET \/, was answered with 500;/);
    expect(secondsGone()).toBe(10);
    expect(steps.inputs("ContinueServiceDeployment")).toEqual([]);
  });

  test("within the time of its own settings, at its own path", async () => {
    const settings = { ...noSettings, healthTimeoutSeconds: 30, healthPath: "/up" };
    const build = await deploying({ settings }, { seconds: 300 });
    build.ours.hook = openFor(25);
    build.task({ startedAt: ago(200) });
    app.new = 500;
    expect(await build.reason()).toMatch(/^The last probe, GET \/up, was answered with 500;/);
    expect(secondsGone()).toBe(5);
  });

  test("within the time since its deployment, if ECS does not say when the hook opened", async () => {
    const build = await deploying({}, { seconds: 118 });
    build.ours.hook = { id: "hook" };
    build.task({ startedAt: ago(100) });
    app.new = 500;
    expect(await build.reason()).toContain("answered with 500");
    expect(secondsGone()).toBe(2);
  });

  test("when nothing answers on its port", async () => {
    const build = await deploying({}, { seconds: 300, url: "http://127.0.0.1:9" });
    build.ours.hook = openFor(200);
    build.task({ startedAt: ago(200) });
    expect(await build.reason()).toMatch(/^Nothing is listening on port 3000\./);
    const other = await deploying({}, { seconds: 300, url: "http://127.0.0.1:9" });
    other.ours.hook = openFor(200);
    other.task({ startedAt: ago(200) });
    await steps.table.write({ build: other.without("port") });
    expect(await other.reason()).toMatch(/^Nothing is listening on port 8080\./);
  });

  test("when its own output names another port", async () => {
    const build = await deploying({}, { seconds: 300, url: "http://127.0.0.1:9" });
    build.ours.hook = openFor(200);
    build.task({ startedAt: ago(200) });
    ecs.streams[build.stream("t1")] = ["Server listening on port 5000"];
    expect(await build.reason()).toMatch(/^Your app listens on port 5000, but requests arrive on port 3000\./);
  });

  test("when no task runs ten minutes after its deployment", async () => {
    const build = await deploying({}, { seconds: 595 });
    build.ours.running = 0;
    expect(await build.reason()).toBe(
      "The app could not be started: no task was running after 10 minutes.\nThe app wrote no output.",
    );
    expect(secondsGone()).toBe(5);
    const pending = await deploying({}, { seconds: 600 });
    pending.task({ status: "PENDING" });
    expect(await pending.reason()).toContain("no task was running after 10 minutes");
  });

  test("when its hook did not open within ten minutes, though it runs", async () => {
    const build = await deploying({}, { seconds: 599 });
    build.task({ startedAt: ago(20) });
    expect(await build.reason()).toContain("Nothing is listening on port 3000.");
    expect(secondsGone()).toBe(1);
  });

  test("when the gateway has found it unhealthy and it has run for its whole time", async () => {
    const build = await deploying({}, { seconds: 300 });
    build.task({ startedAt: ago(118) });
    ecs.events.push({ createdAt: ago(1), message: "(target) is unhealthy due to (reason Request timed out)" });
    expect(await build.reason()).toMatch(/^The last probe, GET \/, got no answer within 5 s\./);
    expect(secondsGone()).toBe(2);
  });

  test("at once when its whole time is over", async () => {
    const build = await deploying({}, { seconds: 120 });
    build.task({ startedAt: ago(120) });
    ecs.events.push({ createdAt: ago(1), message: "(target) is unhealthy due to (reason Request timed out)" });
    expect(await build.reason()).toContain("got no answer within 5 s.");
    expect(secondsGone()).toBe(0);
  });

  test.each<[string, () => void]>([
    ["is not unhealthy at the gateway", () => ecs.events.push({ createdAt: ago(1), message: "has started 1 tasks" })],
    [
      "was unhealthy in an earlier deployment",
      () => ecs.events.push({ createdAt: ago(301), message: "(target) is unhealthy" }),
    ],
    ["has not been checked by the gateway", () => undefined],
  ])("not while its hook is closed and it %s", async (_, arrange) => {
    const build = await deploying({}, { seconds: 300 });
    build.task({ startedAt: ago(200) });
    arrange();
    expect(await build.check()).toEqual(waiting);
  });

  test("not while its task has just started or none runs, whatever the gateway says of it", async () => {
    const build = await deploying({}, { seconds: 300 });
    build.task({ startedAt: ago(20) });
    ecs.events.push({ createdAt: ago(1), message: "(target) is unhealthy" });
    expect(await build.check()).toEqual(waiting);
    ecs.tasks = [];
    expect(await build.check()).toEqual(waiting);
    build.task({ status: "PENDING" });
    expect(await build.check()).toEqual(waiting);
  });
});

describe("an app that listens where no request arrives", () => {
  const loopback = "(target) is unhealthy: listens on 127.0.0.1:3000 only; no request arrives";

  test("is told so ten seconds after its start", async () => {
    const build = await deploying({}, { seconds: 20 });
    build.task({ startedAt: ago(5) });
    ecs.events.push({ createdAt: ago(1), message: loopback });
    ecs.streams[build.stream("t1")] = ["I am up"];
    expect(await build.reason()).toBe(
      "Your app listens on 127.0.0.1:3000 only, so no request from outside its container reaches it. Listen on 0.0.0.0.\nLast output:\nI am up",
    );
    expect(secondsGone()).toBe(5);
  });

  test("may start slowly if it listens on another port", async () => {
    const build = await deploying({}, { seconds: 50 });
    build.task({ startedAt: ago(40) });
    ecs.events.push({ createdAt: ago(1), message: "(target) is unhealthy: listens on port 9229; none of them" });
    expect(await build.check()).toEqual(waiting);
  });

  test("is looked for every five seconds, from the third second on", async () => {
    const build = await deploying();
    const times: number[] = [];
    const listTasks = ecs.answers.ListTasks;
    ecs.answers.ListTasks = (input) => {
      if (input.desiredStatus === "RUNNING") times.push(secondsGone());
      return listTasks?.(input) ?? {};
    };
    expect(await build.check()).toEqual(waiting);
    expect(times).toHaveLength(4);
    expect(times[0]).toBeGreaterThanOrEqual(3);
    expect(times[0]).toBeLessThan(4);
    for (const [n, time] of times.slice(1).entries()) expect(time - (times[n] ?? 0)).toBeCloseTo(5, 0);
    times.length = 0;
    const older = await deploying({}, { seconds: 3 });
    const from = secondsGone();
    await older.check();
    expect(times[0]).toBe(from);
  });

  test("shows its output in the build's log from then on, unless it is shown already", async () => {
    const build = await deploying();
    build.task({ id: "t9", startedAt: begin });
    const writes: (string | undefined)[] = [];
    ecs.answers.DescribeServices = () => {
      writes.push("events");
      return { services: [] };
    };
    expect(await build.check()).toEqual(waiting);
    expect((await build.rows()).build).toMatchObject({ appLog: build.stream("t9") });
    expect(writes).toHaveLength(4);
    const shown = await deploying({ appLog: "log/1" });
    shown.task({ id: "t8", startedAt: begin });
    expect(await shown.check()).toEqual(waiting);
    expect((await shown.rows()).build).toMatchObject({ appLog: "log/1" });
  });

  test("is not known before its task runs", async () => {
    const build = await deploying({}, { seconds: 30 });
    build.task({ status: "PENDING" });
    ecs.events.push({ createdAt: ago(1), message: loopback });
    expect(await build.check()).toEqual(waiting);
    expect((await build.rows()).build).not.toHaveProperty("appLog");
  });
});
