import { beforeEach, describe, expect, test, vi } from "vitest";
import { noSettings } from "../../../api/stored-settings.ts";
import { Build, Lock } from "../../../lambdas/builds/model/rows.ts";
import { appAndValues, type ChosenApp, type ChosenEcs, chosenEcs, definitionOf } from "./chosen-ecs.ts";
import { ago, begin, pass, useSteps } from "./steps.ts";

let ecs: ChosenEcs;
let app: ChosenApp;
const steps = useSteps({ answers: () => ecs.answers, raw: [appAndValues(() => app)] });
beforeEach(() => {
  ecs = chosenEcs();
  app = { new: 200, public: 200, asked: [], values: {} };
});

const image = { digest: "sha256:1", log: "build/1", warning: null, port: 8080 };
type Project = Awaited<ReturnType<typeof steps.newProject>>;
const release = ({ deployment }: Project) => steps.invoke("release", { deployment, image });
const settings = { ...noSettings, releaseCommand: "npm run migrate", memory: 1024 } as const;
const building = (change = {}) => steps.newProject({ status: "building", settings, ...change });
const secondsGone = () => (Date.now() - begin.getTime()) / 1000;

/** A build whose release command was started a while ago, as an earlier call of the step left it. */
async function running(task: Partial<ChosenEcs["tasks"][number]>, seconds = 30) {
  const project = await steps.newProject({ status: "deploying", settings });
  const { projectId, buildId } = project;
  await project.change({
    taskDefinition: definitionOf(buildId),
    releaseDefinition: definitionOf(buildId, "release-"),
    releaseTask: "t1",
    releaseLog: `release/${projectId}/${buildId}/app/t1`,
    releasedAt: ago(seconds).toISOString(),
    previous: { taskDefinition: definitionOf("bld_old"), buildId: "bld_old" },
  });
  ecs.tasks.push({ id: "t1", buildId, purpose: "release-", status: "RUNNING", ...task });
  return { ...project, log: `release/${projectId}/${buildId}/app/t1` };
}
/** The message for the user of a release that fails. */
const reasonOf = async (project: Project): Promise<string> => {
  const error = await release(project).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "BuildRejected" });
  return (error as Error).message;
};
/** The task ends at the n-th look at it. */
function endAtLook(look: number, end: Partial<ChosenEcs["tasks"][number]>): void {
  const describeTasks = ecs.answers.DescribeTasks;
  ecs.answers.DescribeTasks = (input) => {
    if (steps.inputs("DescribeTasks").length === look) Object.assign(ecs.tasks[0] ?? {}, end);
    return describeTasks?.(input) ?? {};
  };
}

describe("release", () => {
  test("makes no row of a build that was deleted with its project while its command started", async () => {
    const project = await building();
    const id = { projectId: project.projectId, id: project.buildId };
    const { RunTask } = ecs.answers;
    ecs.answers.RunTask = async (input) => {
      await steps.table.write({ build: Build.delete(id), lock: Lock.delete(id) });
      return RunTask?.(input) ?? {};
    };
    endAtLook(1, { status: "STOPPED", exitCode: 0 });
    await release(project);
    expect((await project.rows()).build).toBeUndefined();
  });

  test("runs the command once in the new image, before anything of the new version starts", async () => {
    const project = await building();
    const { buildId, projectId } = project;
    endAtLook(3, { status: "STOPPED", exitCode: 0 });
    expect(await release(project)).toEqual({ done: true });
    const [task] = steps.inputs("RunTask");
    expect(steps.inputs("RunTask")).toHaveLength(1);
    expect(task).toMatchObject({
      taskDefinition: definitionOf(buildId, "release-"),
      clientToken: buildId,
      overrides: { containerOverrides: [{ name: "app", command: ["/bin/sh", "-c", "npm run migrate"] }] },
    });
    const { build, lock } = await project.rows();
    expect(build).toMatchObject({
      status: "deploying",
      taskDefinition: definitionOf(buildId),
      releaseTask: `task-${buildId}`,
      releaseLog: `release/${projectId}/${buildId}/app/task-${buildId}`,
      releasedAt: begin.toISOString(),
      previous: null,
      buildLog: "build/1",
    });
    expect(lock).toMatchObject({ status: "deploying" });
    const calls = steps.calls.map(({ operation }) => operation);
    expect(calls).not.toContain("CreateService");
    expect(calls).not.toContain("StopTask");
    // 20 and 30 ms between the three looks
    expect(secondsGone()).toBe(0.05);
  });

  test("keeps what serves now for a rollback: the newest successful build, as soon as ECS shows it", async () => {
    const project = await building();
    const old = await project.addBuild({ status: "ready" });
    await project.succeeded(old);
    ecs.serves("bld_00000000000000000000000001");
    const describeServices = ecs.answers.DescribeServices;
    ecs.answers.DescribeServices = (input) => {
      if (steps.inputs("DescribeServices").length === 2) ecs.serves(old);
      return describeServices?.(input) ?? {};
    };
    endAtLook(1, { status: "STOPPED", exitCode: 0 });
    await release(project);
    expect((await project.rows()).build?.previous).toMatchObject({ buildId: old });
  });

  test.each([
    ["was canceled", (project: Project) => project.cancel()],
    ["has ended", (project: Project) => project.change({ status: "error", error: "It failed." })],
    ["has no release command", (project: Project) => project.change({ settings: noSettings })],
    ["lost the project's lock", (project: Project) => project.lockByAnother()],
  ])("runs nothing for a build that %s", async (_, disturb) => {
    const project = await building();
    await disturb(project);
    await expect(release(project)).rejects.toMatchObject({ name: "BuildCanceled" });
    expect(steps.inputs("RunTask")).toEqual([]);
  });

  test("runs nothing for a build that does not exist, or that has no settings", async () => {
    const project = await building();
    const deployment = { ...project.deployment, buildId: "bld_none" };
    await expect(release({ ...project, deployment })).rejects.toMatchObject({ name: "BuildCanceled" });
    const old = await steps.newProject({ status: "building" });
    await expect(release(old)).rejects.toMatchObject({ name: "BuildCanceled" });
    expect(steps.inputs("RunTask")).toEqual([]);
  });

  test("looks for 20 seconds, at last once a second, and goes on with the same task when it is called again", async () => {
    const project = await building();
    expect(await release(project)).toEqual({ done: false });
    expect(secondsGone()).toBeGreaterThanOrEqual(20);
    expect(secondsGone()).toBeLessThan(21);
    const looks = steps.inputs("DescribeTasks").length;
    expect(looks).toBeGreaterThan(24);
    expect(looks).toBeLessThan(35);
    Object.assign(ecs.tasks[0] ?? {}, { status: "RUNNING", startedAt: ago(20) });
    expect(await release(project)).toEqual({ done: false });
    Object.assign(ecs.tasks[0] ?? {}, { status: "STOPPED", exitCode: 0 });
    expect(await release(project)).toEqual({ done: true });
    expect(steps.inputs("RunTask")).toHaveLength(1);
    expect(steps.inputs("RegisterTaskDefinition")).toHaveLength(2);
  });

  test("starts no second task if the first call ended before it stored the task", async () => {
    const project = await building();
    endAtLook(1, { status: "STOPPED", exitCode: 0 });
    await release(project);
    await steps.table.write({ build: project.without("releaseTask", "releaseLog", "releasedAt") });
    pass(60);
    expect(await release(project)).toEqual({ done: true });
    expect(steps.inputs("RunTask").map(({ clientToken }) => clientToken)).toEqual([project.buildId, project.buildId]);
    expect(ecs.tasks).toHaveLength(1);
    expect((await project.rows()).build).toMatchObject({ releaseTask: `task-${project.buildId}` });
  });

  test("is retried if ECS starts no task", async () => {
    const project = await building();
    ecs.answers.RunTask = () => ({ tasks: [], failures: [{ reason: "Capacity is unavailable at this time." }] });
    await expect(release(project)).rejects.toMatchObject({
      name: "TransientFault",
      message: "ECS started no task: Capacity is unavailable at this time.",
    });
    expect((await project.rows()).build).not.toHaveProperty("releaseTask");
  });
});

describe("a release fails", () => {
  test.each<[string, Partial<ChosenEcs["tasks"][number]>, string]>([
    ["exits with a code", { exitCode: 3 }, "ended with exit code 3"],
    [
      "uses too much memory",
      { exitCode: 137, containerReason: "OutOfMemoryError: Container killed due to memory usage" },
      "used more than its 1024 MiB of memory and was killed",
    ],
    ["is ended by ECS", { stoppedReason: "Host EC2 terminated." }, "did not end by itself: Host EC2 terminated."],
    ["is ended without a reason", {}, "did not end by itself: ECS gave no reason"],
  ])("when the command %s", async (_, end, sentence) => {
    const project = await running({ status: "STOPPED", startedAt: ago(20), ...end });
    const reason = await reasonOf(project);
    expect(reason.split("\n")[0]).toBe(`The release command ${sentence}, so the previous version keeps serving.`);
    expect(reason).toContain("The command wrote no output.");
    expect(steps.inputs("StopTask")).toEqual([]);
  });

  test("and shows the last 20 lines of its output, with the build's variables masked", async () => {
    const project = await running({ status: "STOPPED", exitCode: 1 });
    app.values[project.buildId] = ["hunter2hunter2"];
    const lines = Array.from({ length: 25 }, (_, n) => `line ${n}`);
    ecs.streams[project.log] = [...lines, "password hunter2hunter2"];
    const reason = await reasonOf(project);
    expect(reason).not.toContain("hunter2");
    expect(reason.split("\n").slice(1)).toEqual([
      "Last output:",
      ...lines.slice(6),
      expect.stringMatching(/^password \S+$/),
    ]);
  });

  test("with its output, also in the call that has started it", async () => {
    const project = await building();
    const { projectId, buildId } = project;
    ecs.streams[`release/${projectId}/${buildId}/app/task-${buildId}`] = ["no such table"];
    endAtLook(2, { status: "STOPPED", exitCode: 1 });
    expect((await reasonOf(project)).split("\n").slice(1)).toEqual(["Last output:", "no such table"]);
  });

  test("and says so if nothing was deployed before", async () => {
    const project = await running({ status: "STOPPED", exitCode: 1 });
    await project.change({ previous: null });
    expect(await reasonOf(project)).toMatch(/^The release command ended with exit code 1, so nothing was deployed\./);
  });

  test("when the command runs longer than its time, and stops it", async () => {
    const project = await running({ startedAt: ago(300) });
    const reason = "The release command took longer than 5 minutes";
    expect(await reasonOf(project)).toContain(`${reason}, so the previous version keeps serving.`);
    expect(steps.inputs("StopTask")).toEqual([{ cluster: "apps", task: "t1", reason: `${reason}.` }]);
    // A command may take exactly its time.
    expect(steps.inputs("DescribeTasks")).toHaveLength(2);
  });

  test.each([
    ["45", "45 seconds"],
    ["119", "119 seconds"],
    ["120", "2 minutes"],
  ])("with its time in words: %s s", async (seconds, words) => {
    vi.stubEnv("RELEASE_TIMEOUT_SECONDS", seconds);
    vi.resetModules();
    const project = await running({ startedAt: ago(121) }, 200);
    expect(await reasonOf(project)).toContain(`took longer than ${words},`);
    vi.stubEnv("RELEASE_TIMEOUT_SECONDS", "300");
    vi.resetModules();
  });

  test("when its task was not started within 10 minutes, and stops it", async () => {
    const project = await running({ status: "PENDING" }, 600);
    expect(await reasonOf(project)).toContain("The release command could not be started within 10 minutes, so");
    expect(steps.inputs("StopTask")).toHaveLength(1);
    expect(steps.inputs("DescribeTasks")).toHaveLength(2);
    const unknown = await running({}, 601);
    ecs.tasks = [];
    expect(await reasonOf(unknown)).toContain("could not be started within 10 minutes");
    expect(steps.inputs("StopTask")).toHaveLength(2);
  });

  test("not while its task is slow to start or to be described", async () => {
    expect(await release(await running({ status: "PENDING" }, 500))).toEqual({ done: false });
    const unknown = await running({}, 500);
    ecs.tasks = [];
    expect(await release(unknown)).toEqual({ done: false });
    expect(steps.inputs("StopTask")).toEqual([]);
  });
});
