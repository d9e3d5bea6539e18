import { beforeEach, describe, expect, test } from "vitest";
import { AwsError } from "../../../local/aws/service.ts";
import { type ChosenEcs, chosenEcs, type Deployment, definitionOf } from "./chosen-ecs.ts";
import { ago, begin, useSteps } from "./steps.ts";

let ecs: ChosenEcs;
const steps = useSteps({ answers: () => ecs.answers });
beforeEach(() => {
  ecs = chosenEcs();
});

const secondsGone = () => (Date.now() - begin.getTime()) / 1000;
const reason = "The app exited with code 1.";
const kept = "The new version did not become healthy, so the previous version keeps serving.";
const changes = [
  "UpdateService",
  "CreateService",
  "DeleteService",
  "StopServiceDeployment",
  "ContinueServiceDeployment",
];
/** The calls that change something in ECS. */
const changed = () => steps.calls.filter(({ operation }) => changes.includes(operation));
const callsOf = () => changed().map(({ operation }) => operation);
const refuse = (operation: string, code: string) => {
  ecs.answers[operation] = () => {
    throw new AwsError(code, "refused");
  };
};
/** Changes what AWS holds before the n-th call of an operation. */
function atCall(operation: string, call: number, change: () => void): void {
  const answer = ecs.answers[operation];
  ecs.answers[operation] = (input) => {
    if (steps.inputs(operation).length === call) change();
    return answer?.(input) ?? {};
  };
}

/** A build that began to deploy half a minute ago, beside the version before it. */
async function deploying(previous: object | null = {}) {
  const project = await steps.newProject({ status: "deploying", updatedAt: ago(30).toISOString() });
  const old = await project.addBuild({ status: "ready" });
  const before = { taskDefinition: definitionOf(old), buildId: old, healthPath: "/", instances: 1, ...previous };
  await project.change({ taskDefinition: definitionOf(project.buildId), previous: previous && before });
  ecs.serves(project.buildId);
  const rollBack = (input: object = { reason }) =>
    steps.invoke("roll-back", { deployment: project.deployment, reason: null, error: null, ...input });
  return {
    ...project,
    old,
    rollBack,
    /** The build's deployment in ECS. */
    ours: (change: Partial<Deployment> = {}) =>
      ecs.deploy(definitionOf(project.buildId), { createdAt: ago(25), ...change }),
    /** ECS serves the version before again. */
    restores: (deployment: Deployment) => {
      deployment.status = "ROLLBACK_SUCCESSFUL";
      ecs.serves(old);
    },
  };
}

describe("roll-back", () => {
  test("rolls the deployment back, and ends the build when the version before serves again", async () => {
    const build = await deploying();
    const ours = build.ours();
    ecs.answers.StopServiceDeployment = () => {
      ours.status = "ROLLBACK_IN_PROGRESS";
      return {};
    };
    atCall("DescribeServiceDeployments", 3, () => build.restores(ours));
    expect(await build.rollBack()).toEqual({ done: true });
    expect(changed()).toEqual([
      {
        operation: "StopServiceDeployment",
        input: { serviceDeploymentArn: ours.arn, stopType: "ROLLBACK" },
      },
    ]);
    const { build: row, lock, live } = await build.rows();
    expect(row).toMatchObject({ status: "error", error: `${kept} ${reason}` });
    expect(lock).toBeUndefined();
    expect(live).toEqual({ buildId: build.old, readAt: new Date().toISOString() });
    // 20, 40 and 80 ms between its four looks
    expect(secondsGone()).toBe(0.14);
    // A function and ECS may have different clocks.
    expect(steps.inputs("ListServiceDeployments")[0].createdAt).toEqual({ after: begin.getTime() / 1000 - 90 });
  });

  test("answers the hook at which the deployment waits", async () => {
    const build = await deploying();
    const ours = build.ours({ hook: { id: "hook" } });
    ecs.answers.ContinueServiceDeployment = () => {
      build.restores(ours);
      return {};
    };
    expect(await build.rollBack()).toEqual({ done: true });
    expect(changed()).toEqual([
      {
        operation: "ContinueServiceDeployment",
        input: { serviceDeploymentArn: ours.arn, hookId: "hook", action: "ROLLBACK" },
      },
    ]);
  });

  test.each([
    ["its reason", { reason: "It is slow.", error: { Error: "States.Timeout", Cause: "" } }, "It is slow."],
    [
      "what the state machine caught",
      { error: { Error: "BuildRejected", Cause: JSON.stringify({ errorMessage: "The release command failed." }) } },
      "The release command failed.",
    ],
    [
      "nothing of the error of a function",
      { error: { Error: "TypeError", Cause: "{}" } },
      "The deployment failed on our side. Please create the build again.",
    ],
  ])("tells the user %s", async (_, input, because) => {
    const build = await deploying();
    build.restores(build.ours());
    expect(await build.rollBack(input)).toEqual({ done: true });
    expect((await build.rows()).build?.error).toBe(`${kept} ${because}`);
  });

  test("tells only what serves if there is no reason", async () => {
    const build = await deploying();
    build.restores(build.ours());
    await build.rollBack({});
    expect((await build.rows()).build?.error).toBe(kept);
  });

  test("changes nothing for a build that has ended, or does not exist", async () => {
    const build = await deploying();
    build.ours();
    await build.change({ status: "ready" });
    const before = await build.rows();
    expect(await build.rollBack()).toEqual({ done: true });
    expect(await build.rows()).toEqual(before);
    const deployment = { ...build.deployment, buildId: "bld_none" };
    expect(await build.rollBack({ deployment })).toEqual({ done: true });
    expect(steps.calls).toEqual([]);
  });

  test("ends a build that has not begun to deploy, and touches nothing in ECS", async () => {
    const build = await deploying();
    await build.change({ status: "building" });
    expect(await build.rollBack()).toEqual({ done: true });
    const { build: row, lock, live } = await build.rows();
    expect(row).toMatchObject({ status: "error", error: reason });
    expect(lock).toBeUndefined();
    expect(live).toBeUndefined();
    expect(steps.calls).toEqual([]);
  });

  test("undoes nothing of a later build that has the project's lock", async () => {
    const build = await deploying();
    build.ours();
    const other = await build.lockByAnother();
    expect(await build.rollBack()).toEqual({ done: true });
    expect(steps.calls).toEqual([]);
    expect(await build.rows()).toMatchObject({ build: { status: "error" }, lock: { buildId: other }, live: undefined });
    // Nor if the lock was released.
    const free = await deploying();
    await free.cancel();
    await steps.table.write({ build: free.without("canceledAt") });
    expect(await free.rollBack()).toEqual({ done: true });
    expect(steps.calls).toEqual([]);
  });

  test("looks for 20 seconds, at last once a second, and is called again then", async () => {
    const build = await deploying();
    build.ours({ status: "ROLLBACK_IN_PROGRESS" });
    expect(await build.rollBack()).toEqual({ done: false });
    expect(secondsGone()).toBeGreaterThanOrEqual(20);
    expect(secondsGone()).toBeLessThan(21);
    const looks = steps.inputs("DescribeServiceDeployments").length;
    expect(looks).toBeGreaterThan(20);
    expect(looks).toBeLessThan(28);
    expect(await build.rows()).toMatchObject({ build: { status: "deploying" }, lock: { buildId: build.buildId } });
    expect(changed()).toEqual([]);
  });

  test("is retried if ECS fails, and the build keeps the project's lock", async () => {
    const build = await deploying();
    build.ours();
    ecs.answers.ListServiceDeployments = () => {
      throw new AwsError("ServerException", "Service Unavailable", 500);
    };
    await expect(build.rollBack()).rejects.toMatchObject({ name: "TransientFault" });
    expect(await build.rows()).toMatchObject({ build: { status: "deploying" }, lock: { buildId: build.buildId } });
  });
});

describe("the version before", () => {
  test("is deployed again if the new one has taken its place, as it ran before", async () => {
    const build = await deploying({ healthPath: "/old", instances: 3 });
    build.ours({ status: "SUCCESSFUL" });
    ecs.answers.UpdateService = ({ taskDefinition, desiredCount }) => {
      ecs.serves(build.old, desiredCount);
      ecs.deploy(taskDefinition, { hook: { id: "back" } });
      return {};
    };
    ecs.answers.ContinueServiceDeployment = () => {
      Object.assign(ecs.deployments[1] ?? {}, { hook: undefined, stage: "CLEAN_UP" });
      return {};
    };
    expect(await build.rollBack()).toEqual({ done: true });
    const [update, answer] = changed();
    expect(callsOf()).toEqual(["UpdateService", "ContinueServiceDeployment"]);
    expect(update?.input).toMatchObject({ taskDefinition: definitionOf(build.old), desiredCount: 3 });
    expect(update?.input.gatewayConnectors[0].healthCheck.healthCheckPath).toBe("/old");
    // Its own deployment goes on without a look at its health: it has served before.
    expect(answer?.input).toMatchObject({ serviceDeploymentArn: ecs.deployments[1]?.arn, action: "CONTINUE" });
  });

  test("that was recorded without its settings runs with the defaults", async () => {
    const build = await deploying({ healthPath: undefined, instances: undefined });
    build.ours({ status: "SUCCESSFUL" });
    expect(await build.rollBack()).toEqual({ done: false });
    expect(changed()).toMatchObject([{ operation: "UpdateService", input: { desiredCount: 1 } }]);
    expect(changed()[0]?.input.gatewayConnectors[0].healthCheck.healthCheckPath).toBe("/");
  });

  test("gets back its number of instances", async () => {
    const build = await deploying({ instances: 2 });
    build.restores(build.ours());
    expect(await build.rollBack()).toEqual({ done: true });
    expect(changed()).toEqual([
      { operation: "UpdateService", input: { cluster: "apps", service: expect.any(String), desiredCount: 2 } },
    ]);
  });

  test("is deployed again when the new version has ended the old tasks, as soon as ECS accepts it", async () => {
    const build = await deploying();
    const ours = build.ours({ stage: "CLEAN_UP" });
    atCall("DescribeServiceDeployments", 3, () => {
      expect(changed()).toEqual([]);
      ours.status = "SUCCESSFUL";
    });
    ecs.answers.UpdateService = ({ taskDefinition }) => {
      if (steps.inputs("UpdateService").length < 3) throw new AwsError("InvalidParameterException", "refused");
      ecs.serves(build.old);
      ecs.deploy(taskDefinition, { status: "SUCCESSFUL" });
      return {};
    };
    expect(await build.rollBack()).toEqual({ done: true });
    expect(callsOf()).toEqual(["UpdateService", "UpdateService", "UpdateService"]);
  });

  test("gets a new service if there is none", async () => {
    const build = await deploying({ instances: 2 });
    build.ours({ status: "STOPPED" });
    ecs.service = undefined;
    atCall("ListServiceDeployments", 2, () => Object.assign(ecs.deployments[1] ?? {}, { status: "SUCCESSFUL" }));
    expect(await build.rollBack()).toEqual({ done: true });
    expect(callsOf()).toEqual(["UpdateService", "CreateService"]);
    expect(ecs.service).toMatchObject({ taskDefinition: definitionOf(build.old), desiredCount: 2 });
  });

  test("is not restored if ECS refuses the caller", async () => {
    const build = await deploying();
    build.ours({ status: "SUCCESSFUL" });
    refuse("UpdateService", "AccessDeniedException");
    await expect(build.rollBack()).rejects.toMatchObject({ name: "AccessDeniedException" });
    expect((await build.rows()).build).toMatchObject({ status: "deploying" });
  });

  test("whose own deployment is on its way is waited for, and not touched", async () => {
    const build = await deploying();
    build.ours({ status: "SUCCESSFUL" });
    ecs.serves(build.old);
    const back = ecs.deploy(definitionOf(build.old), { createdAt: ago(1) });
    atCall("DescribeServiceDeployments", 4, () => Object.assign(back, { status: "SUCCESSFUL" }));
    expect(await build.rollBack()).toEqual({ done: true });
    expect(steps.inputs("DescribeServiceDeployments")).toHaveLength(4);
    expect(changed()).toEqual([]);
  });

  test("serves while its own deployment ends the tasks of the new one", async () => {
    const build = await deploying();
    build.ours({ status: "SUCCESSFUL" });
    ecs.serves(build.old);
    ecs.deploy(definitionOf(build.old), { createdAt: ago(1), stage: "CLEAN_UP" });
    expect(await build.rollBack()).toEqual({ done: true });
    expect(secondsGone()).toBe(0);
    expect(changed()).toEqual([]);
  });

  test("is not yet restored while the deployment that moves the traffic back is not listed", async () => {
    const build = await deploying();
    build.ours({ status: "SUCCESSFUL" });
    ecs.serves(build.old);
    atCall("ListServiceDeployments", 3, () =>
      ecs.deploy(definitionOf(build.old), { createdAt: ago(1), status: "SUCCESSFUL" }),
    );
    expect(await build.rollBack()).toEqual({ done: true });
    expect(steps.inputs("ListServiceDeployments")).toHaveLength(3);
    expect(changed()).toEqual([]);
  });

  test("is restored if another build's deployment is the newest that has succeeded", async () => {
    const build = await deploying();
    build.ours({ status: "STOPPED" });
    ecs.serves(build.old);
    ecs.deploy(definitionOf("bld_other"), { createdAt: ago(1), status: "SUCCESSFUL" });
    expect(await build.rollBack()).toEqual({ done: true });
    expect(secondsGone()).toBe(0);
  });

  test("counts as restored after ten seconds if ECS lists no deployment of the build: it was never started", async () => {
    const build = await deploying();
    ecs.serves(build.old);
    expect(await build.rollBack()).toEqual({ done: true });
    expect(secondsGone()).toBeGreaterThan(10);
    expect(secondsGone()).toBeLessThan(11.1);
    expect(changed()).toEqual([]);
  });

  test.each<[string, (build: Awaited<ReturnType<typeof deploying>>) => void]>([
    ["whose version is not described", () => ecs.deploy(undefined, { hook: { id: "hook" } })],
    ["that is not described", (build) => build.ours({ isDescribed: false })],
    ["that is ending already", (build) => build.ours({ status: "ROLLBACK_REQUESTED", hook: { id: "hook" } })],
  ])("is waited for while ECS lists a deployment %s", async (_, arrange) => {
    const build = await deploying();
    build.ours({ status: "STOPPED" });
    ecs.serves(build.old);
    arrange(build);
    expect(await build.rollBack()).toEqual({ done: false });
    expect(changed()).toEqual([]);
  });

  test("is waited for while the deployment that is rolled back has not begun", async () => {
    const build = await deploying();
    const ours = build.ours({ status: "PENDING" });
    refuse("StopServiceDeployment", "ConflictException");
    atCall("DescribeServiceDeployments", 3, () => build.restores(ours));
    expect(await build.rollBack()).toEqual({ done: true });
    expect(new Set(callsOf())).toEqual(new Set(["StopServiceDeployment"]));
  });
});

describe("a first version", () => {
  const nothing = "The version did not become healthy, and nothing is running.";

  test("is removed with its service, and so is the address that its app had", async () => {
    const build = await deploying(null);
    await build.knowsAddress("https://app.example");
    expect(await build.rollBack()).toEqual({ done: true });
    expect(steps.inputs("DeleteService")).toEqual([{ cluster: "apps", service: expect.any(String), force: true }]);
    const { build: row, lock, live, addresses } = await build.rows();
    expect(row).toMatchObject({ status: "error", error: `${nothing} ${reason}` });
    expect([lock, live?.buildId, addresses?.url]).toEqual([undefined, null, undefined]);
    expect(secondsGone()).toBe(0);
  });

  test("is removed, though nothing was recorded before it", async () => {
    const build = await deploying(null);
    await steps.table.write({ build: build.without("previous") });
    ecs.service = undefined;
    expect(await build.rollBack()).toEqual({ done: true });
    expect((await build.rows()).build?.error).toBe(`${nothing} ${reason}`);
    expect((await build.rows()).live).toMatchObject({ buildId: null });
  });

  test("is removed when ECS shows no service any more, and keeps its address until then", async () => {
    const build = await deploying(null);
    await build.knowsAddress("https://app.example");
    ecs.answers.DeleteService = () => ({});
    expect(await build.rollBack()).toEqual({ done: false });
    expect(await build.rows()).toMatchObject({
      build: { status: "deploying" },
      lock: { buildId: build.buildId },
      addresses: { url: "https://app.example" },
    });
    ecs.service = undefined;
    expect(await build.rollBack()).toEqual({ done: true });
    expect((await build.rows()).addresses?.url).toBeUndefined();
  });
});
