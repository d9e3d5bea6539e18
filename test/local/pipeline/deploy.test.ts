import { beforeEach, describe, expect, test } from "vitest";
import { noSettings } from "../../../api/stored-settings.ts";
import { AwsError } from "../../../local/aws/service.ts";
import { type ChosenEcs, chosenEcs, definitionOf } from "./chosen-ecs.ts";
import { ago, begin, created, pass, useSteps } from "./steps.ts";

let ecs: ChosenEcs;
const steps = useSteps({ answers: () => ecs.answers });
beforeEach(() => {
  ecs = chosenEcs();
});

const image = { digest: "sha256:1", log: "build/1", warning: null as string | null, port: 8080 };
type Project = Awaited<ReturnType<typeof steps.newProject>>;
const deploy = ({ deployment }: Project, built = image) => steps.invoke("deploy", { deployment, image: built });
const building = (change = {}) => steps.newProject({ status: "building", ...change });
const at = begin.toISOString();

/** A build that an earlier call of the step has made `deploying`. */
const begun = async (change = {}) => {
  const project = await steps.newProject({ status: "deploying", ...change });
  await project.change({ taskDefinition: definitionOf(project.buildId) });
  return project;
};
/** A project that `old` serves, with the newest successful build of the same name. */
async function serving(change = {}) {
  const project = await building();
  const old = await project.addBuild({ status: "ready", ...change });
  await project.succeeded(old);
  ecs.serves(old);
  return { ...project, old };
}
const refuse = (code: string, operation = "UpdateService") => {
  ecs.answers[operation] = () => {
    throw new AwsError(code, "refused");
  };
};

describe("deploy", () => {
  test("starts the first version of a project as its settings say, and learns the app's address", async () => {
    const settings = { ...noSettings, memory: 1024, instances: 3, healthPath: "/up" } as const;
    const project = await building({ settings, warning: "from the analysis" });
    ecs.address = "https://app.example";
    const output = await deploy(project, { ...image, warning: "from the image build", port: 3000 });
    const [started] = ecs.deployments;
    expect(output).toEqual({
      waiting: false,
      serviceDeploymentArn: started?.arn,
      url: "https://app.example",
      since: at,
    });
    const taskDefinition = definitionOf(project.buildId);
    const { build, lock, addresses } = await project.rows();
    expect(build).toMatchObject({
      status: "deploying",
      taskDefinition,
      previous: null,
      warning: "from the analysis\nfrom the image build",
      buildLog: "build/1",
    });
    expect(build).not.toHaveProperty("releaseDefinition");
    expect(build).not.toHaveProperty("waitedAt");
    expect(lock).toMatchObject({ buildId: project.buildId, status: "deploying" });
    expect(addresses).toMatchObject({ url: "https://app.example" });
    const registered = steps.inputs("RegisterTaskDefinition");
    expect(registered).toHaveLength(1);
    expect(registered[0]).toMatchObject({ family: `slipway-${project.buildId}`, memory: "1024", cpu: "512" });
    expect(registered[0].containerDefinitions[0]).toMatchObject({
      image: expect.stringMatching(new RegExp(`/${project.projectId}@sha256:1$`)),
      portMappings: [expect.objectContaining({ containerPort: 3000 })],
    });
    const [created] = steps.inputs("CreateService");
    expect(created).toMatchObject({ taskDefinition, desiredCount: 3 });
    expect(created.gatewayConnectors[0].healthCheck.healthCheckPath).toBe("/up");
  });

  test("updates the service of a project that is live, and records what served and how", async () => {
    const project = await serving({ settings: { ...noSettings, instances: 2, healthPath: "/old" } });
    await project.knowsAddress("https://app.example");
    expect(await deploy(project)).toMatchObject({ waiting: false, url: "https://app.example" });
    const previous = {
      taskDefinition: definitionOf(project.old),
      buildId: project.old,
      healthPath: "/old",
      instances: 2,
    };
    expect((await project.rows()).build).toMatchObject({ previous, warning: null });
    expect(steps.inputs("UpdateService")).toMatchObject([{ desiredCount: 1 }]);
    // A known address is neither asked for nor written again.
    expect(steps.inputs("ListGatewayRoutes")).toEqual([]);
  });

  test("of an app whose address the gateway does not know yet has none", async () => {
    const project = await building();
    expect(await deploy(project)).toMatchObject({ url: null });
    expect((await project.rows()).addresses).toBeUndefined();
  });

  test("registers a task definition for a release command, too", async () => {
    const project = await building({ settings: { ...noSettings, releaseCommand: "npm run migrate" } });
    await deploy(project);
    const { buildId } = project;
    expect((await project.rows()).build).toMatchObject({ releaseDefinition: definitionOf(buildId, "release-") });
    ecs = chosenEcs();
    const blank = await building({ settings: { ...noSettings, releaseCommand: " " } });
    await deploy(blank);
    expect((await blank.rows()).build).not.toHaveProperty("releaseDefinition");
  });

  test.each([
    ["canceled", (project: Project) => project.cancel()],
    [
      "over",
      ({ change, buildId }: Project) =>
        change({ status: "error", error: "It failed.", taskDefinition: definitionOf(buildId) }),
    ],
    ["at another stage", (project: Project) => project.change({ status: "analyzing" })],
    ["no longer the owner of the project's lock", (project: Project) => project.lockByAnother()],
  ])("starts nothing for a build that is %s", async (_, disturb) => {
    const project = await building();
    await disturb(project);
    const before = await project.rows();
    await expect(deploy(project)).rejects.toMatchObject({ name: "BuildCanceled" });
    expect(await project.rows()).toEqual(before);
    expect([...steps.inputs("UpdateService"), ...steps.inputs("CreateService")]).toEqual([]);
  });

  test("asks ECS to serve the build at its first call, whatever serves", async () => {
    const project = await serving();
    ecs.serves(project.buildId);
    await deploy(project);
    expect(steps.inputs("UpdateService")).toHaveLength(1);
  });

  test("starts nothing for a build that does not exist, not even while another deployment is unfinished", async () => {
    const project = await building();
    const nowhere = { ...project, deployment: { ...project.deployment, buildId: "bld_none" } };
    await expect(deploy(nowhere)).rejects.toMatchObject({ name: "BuildCanceled" });
    ecs.deploy(definitionOf("bld_other"));
    expect(await deploy(nowhere)).toEqual({ waiting: true });
    expect((await project.rows("bld_none")).build).toBeUndefined();
  });

  test("of a deploying build without a task definition starts nothing", async () => {
    const project = await steps.newProject({ status: "deploying" });
    await expect(deploy(project)).rejects.toMatchObject({ name: "BuildCanceled" });
  });
});

describe("deploy waits", () => {
  test.each([
    ["of another build", () => ecs.deploy(definitionOf("bld_other"))],
    ["whose version ECS does not describe yet", () => ecs.deploy(undefined)],
    ["that rolls back", () => ecs.deploy(definitionOf("bld_other"), { status: "ROLLBACK_IN_PROGRESS" })],
  ])("for an unfinished deployment %s, and notes since when", async (_, disturb) => {
    const project = await building();
    const other = disturb();
    expect(await deploy(project)).toEqual({ waiting: true });
    expect((await project.rows()).build).toMatchObject({ status: "building", waitedAt: at });
    pass(5);
    expect(await deploy(project)).toEqual({ waiting: true });
    expect((await project.rows()).build).toMatchObject({ status: "building", waitedAt: at });
    expect(steps.inputs("RegisterTaskDefinition")).toEqual([]);
    other.status = "SUCCESSFUL";
    expect(await deploy(project)).toMatchObject({ waiting: false });
    expect((await project.rows()).build).toMatchObject({ status: "deploying", waitedAt: at });
  });

  test("while an earlier service of the same name ends its tasks", async () => {
    const project = await building();
    ecs.service = { status: "DRAINING", taskDefinition: definitionOf("bld_old"), desiredCount: 0 };
    expect(await deploy(project)).toEqual({ waiting: true });
    expect((await project.rows()).build).toMatchObject({ status: "deploying", waitedAt: at });
    pass(60);
    ecs.service = { ...ecs.service, status: "INACTIVE" };
    expect(await deploy(project)).toMatchObject({ waiting: false });
    expect((await project.rows()).build).toMatchObject({ previous: null, waitedAt: at });
    expect(steps.inputs("RegisterTaskDefinition")).toHaveLength(1);
  });

  test("not when ECS refuses the change of a service that runs: the step fails and is retried", async () => {
    const project = await serving();
    refuse("InvalidParameterException");
    await expect(deploy(project)).rejects.toMatchObject({ name: "TransientFault" });
    expect((await project.rows()).build).not.toHaveProperty("waitedAt");
  });

  test("not when ECS refuses the caller, even while a service drains", async () => {
    const project = await building();
    ecs.service = { status: "DRAINING", taskDefinition: definitionOf("bld_old"), desiredCount: 0 };
    refuse("AccessDeniedException", "CreateService");
    await expect(deploy(project)).rejects.toMatchObject({ name: "AccessDeniedException" });
    expect((await project.rows()).build).not.toHaveProperty("waitedAt");
  });
});

describe("deploy, called again,", () => {
  test("finds the deployment that it has started, and starts no second one", async () => {
    const project = await serving();
    const first = await deploy(project);
    pass(30);
    expect(await deploy(project)).toEqual({ ...first, since: new Date(begin.getTime() + 30_000).toISOString() });
    expect(ecs.deployments).toHaveLength(1);
    expect((await project.rows()).build?.previous).toMatchObject({ buildId: project.old });
    expect(steps.inputs("RegisterTaskDefinition")).toHaveLength(1);
  });

  test("starts the deployment if the first call ended before", async () => {
    const project = await begun({ previous: { taskDefinition: definitionOf("bld_old"), buildId: "bld_old" } });
    ecs.serves("bld_old");
    const output = await deploy(project);
    expect(ecs.deployments).toMatchObject([{ taskDefinition: definitionOf(project.buildId) }]);
    expect(output).toMatchObject({ waiting: false, serviceDeploymentArn: ecs.deployments[0]?.arn });
    expect((await project.rows()).build?.previous).toMatchObject({ buildId: "bld_old" });
  });

  test("finds its deployment after it has ended, among others", async () => {
    const project = await begun();
    ecs.serves(project.buildId);
    ecs.deploy(definitionOf("bld_before"), { status: "SUCCESSFUL", createdAt: ago(100) });
    pass(1);
    const own = ecs.deploy(definitionOf(project.buildId), { status: "SUCCESSFUL" });
    pass(1);
    ecs.deploy(definitionOf("bld_other"), { status: "STOPPED" });
    ecs.deploy(undefined, { status: "STOPPED" });
    expect(await deploy(project)).toMatchObject({ serviceDeploymentArn: own.arn });
  });
});

describe("deploy reads the list of deployments", () => {
  const listed = () => steps.inputs("ListServiceDeployments").filter(({ createdAt }) => createdAt !== undefined);

  test("until ECS lists the one that it has started, and never takes another", async () => {
    const project = await serving();
    const list = ecs.answers.ListServiceDeployments;
    ecs.answers.ListServiceDeployments = (input) => {
      if (input.createdAt && listed().length === 3)
        for (const one of ecs.deployments) Object.assign(one, { isListed: true });
      return list?.(input) ?? {};
    };
    ecs.answers.UpdateService = ({ taskDefinition }) => {
      ecs.deploy(definitionOf("bld_other"));
      ecs.deploy(taskDefinition, { isListed: false });
      return {};
    };
    const output = await deploy(project);
    expect(output).toMatchObject({ serviceDeploymentArn: ecs.deployments[1]?.arn });
    expect(listed()).toHaveLength(3);
    // The project's deployments since the build was created.
    expect(listed()[0].createdAt).toEqual({ after: created.getTime() / 1000 });
  });

  test("for 15 seconds, at last once a second, and is retried then", async () => {
    const project = await building();
    ecs.answers.CreateService = () => ({});
    await expect(deploy(project)).rejects.toMatchObject({
      name: "TransientFault",
      message: "ECS does not list the deployment that was started",
    });
    const seconds = (Date.now() - begin.getTime()) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(15);
    expect(seconds).toBeLessThan(16.1);
    expect(listed().length).toBeGreaterThanOrEqual(18);
    expect(listed().length).toBeLessThanOrEqual(24);
    expect((await project.rows()).build).toMatchObject({
      status: "deploying",
      taskDefinition: definitionOf(project.buildId),
    });
  });
});

describe("the version before", () => {
  test("is what ECS says, if ECS agrees with the newest successful build", async () => {
    const project = await serving();
    await deploy(project);
    expect(Date.now()).toBe(begin.getTime());
    expect((await project.rows()).build?.previous).toEqual({
      taskDefinition: definitionOf(project.old),
      buildId: project.old,
      healthPath: "/",
      instances: 1,
    });
  });

  test("is read again while ECS shows an earlier state", async () => {
    const project = await serving();
    ecs.serves("bld_00000000000000000000000001");
    const describeServices = ecs.answers.DescribeServices;
    ecs.answers.DescribeServices = (input) => {
      if (steps.inputs("DescribeServices").length === 4) ecs.serves(project.old);
      return describeServices?.(input) ?? {};
    };
    await deploy(project);
    expect((await project.rows()).build?.previous).toMatchObject({ buildId: project.old });
    // 50 + 100 + 200 ms
    expect(Date.now() - begin.getTime()).toBe(350);
  });

  test("is what ECS says, if it says so for five seconds", async () => {
    const project = await serving();
    const other = await project.addBuild({ status: "error", settings: { ...noSettings, instances: 4 } });
    ecs.serves(other);
    await deploy(project);
    expect((await project.rows()).build?.previous).toMatchObject({ buildId: other, instances: 4 });
    const seconds = (Date.now() - begin.getTime()) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(5);
    expect(seconds).toBeLessThan(6.1);
    expect(steps.inputs("DescribeServices").length).toBeGreaterThan(7);
  });

  test("is the newest successful build if ECS knows no service, because a rollback to nothing would delete it", async () => {
    const project = await serving({ taskDefinition: "arn:before:task-definition/slipway-x:1" });
    ecs.service = undefined;
    await deploy(project);
    expect((await project.rows()).build?.previous).toEqual({
      taskDefinition: "arn:before:task-definition/slipway-x:1",
      buildId: null,
      healthPath: "/",
      instances: 1,
    });
  });

  test("is none if nothing serves and no build was ever successful, or its row is gone", async () => {
    const first = await building();
    await deploy(first);
    expect((await first.rows()).build?.previous).toBeNull();
    ecs = chosenEcs();
    const other = await building();
    await other.succeeded("bld_gone");
    await deploy(other);
    expect((await other.rows()).build?.previous).toBeNull();
  });

  test("is kept with its task definition alone if that is not one of the project's builds", async () => {
    const project = await building();
    ecs.serves("other");
    await deploy(project);
    expect((await project.rows()).build?.previous).toEqual({
      taskDefinition: definitionOf("other"),
      buildId: null,
      healthPath: "/",
      instances: 1,
    });
  });

  test("is whatever ECS says at once if no build was ever successful", async () => {
    const project = await building();
    const old = await project.addBuild({ status: "error" });
    ecs.serves(old);
    await deploy(project);
    expect((await project.rows()).build?.previous).toMatchObject({ buildId: old });
    expect(Date.now()).toBe(begin.getTime());
  });
});

test("a deployment that cannot be prepared leaves the build as it is", async () => {
  const project = await building();
  refuse("ClientException", "RegisterTaskDefinition");
  await expect(deploy(project)).rejects.toMatchObject({ name: "ClientException" });
  expect((await project.rows()).build).toMatchObject({ status: "building" });
});
