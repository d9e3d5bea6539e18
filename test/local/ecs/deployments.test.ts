import { join } from "node:path";
import {
  ContinueServiceDeploymentCommand,
  CreateServiceCommand,
  DeleteServiceCommand,
  DeleteTaskDefinitionsCommand,
  DeregisterTaskDefinitionCommand,
  DescribeServiceRevisionsCommand,
  DescribeServicesCommand,
  ListServiceDeploymentsCommand,
  paginateListTaskDefinitions,
  StopServiceDeploymentCommand,
  UpdateServiceCommand,
} from "@aws-sdk/client-ecs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { direct, hookAt, isRunning, paused, TestCluster, testHeader, until, versionAt } from "./cluster.ts";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await new TestCluster().start();
});
afterAll(() => cluster.remove());

const asTest = { [testHeader.name]: testHeader.value };

async function live(name: string, version = "1"): Promise<{ url: string; blue: string }> {
  const blue = await cluster.register({ VERSION: version });
  await cluster.create(name, blue, paused);
  await cluster.act(name, "CONTINUE");
  return { url: await cluster.url(name), blue };
}

test("a good deployment pauses with green behind the test header, then shifts the traffic and stops blue", async () => {
  const { url, blue } = await live("good");
  expect(await versionAt(url)).toBe("1");
  const [blueTask] = await cluster.tasks("good", "RUNNING");
  const green = await cluster.register({ VERSION: "2" });
  const { service } = await cluster.update("good", green);
  expect(service?.deployments?.map(({ status, taskDefinition }) => [status, taskDefinition])).toEqual([
    ["PRIMARY", green],
    ["ACTIVE", blue],
  ]);

  const { deployment, hook } = await cluster.untilPaused("good");
  expect(deployment).toMatchObject({ status: "IN_PROGRESS", lifecycleStage: "POST_TEST_TRAFFIC_SHIFT" });
  expect(hook).toMatchObject({ targetType: "PAUSE", timeoutAction: "ROLLBACK" });
  expect(hook.expiresAt?.getTime()).toBeGreaterThan(Date.now() + 9 * 60_000);
  expect(await versionAt(url)).toBe("1");
  expect(await versionAt(url, asTest)).toBe("2");
  expect(await versionAt(url, { [testHeader.name]: "guessed" })).toBe("1");
  for (const headers of [asTest, { [testHeader.name]: "guessed" }]) {
    const seen = await (await fetch(url, { headers })).text();
    expect([seen.includes('"host"'), seen.includes(testHeader.name)]).toEqual([true, false]);
  }

  const ended = await cluster.act("good", "CONTINUE");
  expect(ended).toMatchObject({ status: "SUCCESSFUL", lifecycleStage: "CLEAN_UP" });
  expect(await versionAt(url)).toBe("2");
  const after = await cluster.describe("good");
  expect(after.deployments).toMatchObject([{ status: "PRIMARY", taskDefinition: green, rolloutState: "COMPLETED" }]);
  expect(after).toMatchObject({ status: "ACTIVE", desiredCount: 1, taskDefinition: green });
  expect(after.events?.map(({ message }) => message)).toContain("(service good) has reached a steady state.");

  const stopped = await until(async () => (await cluster.tasks("good", "STOPPED")).find(({ stoppedAt }) => stoppedAt));
  expect(stopped).toMatchObject({ taskArn: blueTask?.taskArn, stopCode: "ServiceSchedulerInitiated" });
  expect(stopped.startedBy).toMatch(/^ecs-svc\/\d{19}$/);
  const target = ended.targetServiceRevision?.arn ?? "";
  const { serviceRevisions } = await cluster.client.send(
    new DescribeServiceRevisionsCommand({ serviceRevisionArns: [target] }),
  );
  expect(serviceRevisions).toMatchObject([{ serviceRevisionArn: target, taskDefinition: green }]);
});

test("a rollback at the hook restores the old task definition and stops green", async () => {
  const { url, blue } = await live("back");
  const [blueTask] = await cluster.tasks("back", "RUNNING");
  const green = await cluster.register({ VERSION: "2" });
  await cluster.update("back", green);
  await cluster.untilPaused("back");
  const rolledBack = await cluster.act("back", "ROLLBACK");
  expect(rolledBack.status).toBe("ROLLBACK_SUCCESSFUL");
  expect(rolledBack.rollback?.serviceRevisionArn).toBe(rolledBack.sourceServiceRevisions?.[0]?.arn);
  expect(await versionAt(url)).toBe("1");
  expect(await versionAt(url, asTest)).toBe("1");
  const service = await cluster.describe("back");
  expect(service.deployments).toMatchObject([{ status: "PRIMARY", taskDefinition: blue, rolloutState: "COMPLETED" }]);
  expect((await cluster.tasks("back", "RUNNING")).map(({ taskArn }) => taskArn)).toEqual([blueTask?.taskArn]);
});

test("a rollback after the shift gives the traffic back to blue", async () => {
  const { url, blue } = await live("late");
  const green = await cluster.register({ VERSION: "2" });
  await cluster.update("late", green, { deploymentConfiguration: hookAt("POST_PRODUCTION_TRAFFIC_SHIFT") });
  await cluster.untilPaused("late");
  expect(await versionAt(url)).toBe("2");
  await cluster.act("late", "ROLLBACK");
  expect(await versionAt(url)).toBe("1");
  expect((await cluster.describe("late")).deployments).toMatchObject([{ status: "PRIMARY", taskDefinition: blue }]);
});

test("a first deployment that is rolled back leaves nothing running", async () => {
  await cluster.create("first", await cluster.register({ VERSION: "1" }));
  const { deployment } = await cluster.untilPaused("first");
  const url = await cluster.url("first");
  expect(await versionAt(url, asTest)).toBe("1");
  const { pid } = (await (await fetch(url, { headers: asTest })).json()) as { pid: number };
  const early = await fetch(url);
  expect([early.status, await early.text()]).toEqual([503, "503 Service Unavailable: no app is running\n"]);
  await cluster.act("first", "ROLLBACK");
  expect(isRunning(pid)).toBe(false);
  expect((await fetch(url)).status).toBe(503);
  const service = await cluster.describe("first");
  expect(service).toMatchObject({ desiredCount: 0, runningCount: 0, currentServiceRevisions: [] });
  expect(service.deployments).toMatchObject([{ status: "PRIMARY", rolloutState: "FAILED", desiredCount: 0 }]);
  const { serviceDeploymentArn } = deployment;
  const stop = new StopServiceDeploymentCommand({ serviceDeploymentArn });
  await expect(cluster.client.send(stop)).rejects.toMatchObject({ name: "ConflictException" });

  await cluster.update("first", await cluster.register({ VERSION: "2" }));
  await cluster.act("first", "CONTINUE");
  expect(await versionAt(url)).toBe("2");
  expect((await cluster.describe("first")).desiredCount).toBe(1);
});

test("traffic never shifts to a version that exits at the hook", async () => {
  const { url } = await live("died");
  const flag = join(cluster.dir, "flag");
  const once = `sh:[ -e ${flag} ] && exit 1; touch ${flag}; exec node app.cjs`;
  await cluster.update("died", await cluster.register({ VERSION: "2" }, once));
  const { deployment, hook } = await cluster.untilPaused("died");
  await fetch(`${url}/exit`, { headers: asTest });
  const { serviceDeploymentArn } = deployment;
  await cluster.client.send(new ContinueServiceDeploymentCommand({ serviceDeploymentArn, hookId: hook.hookId }));
  await until(async () => ((await cluster.describe("died")).deployments?.[0]?.failedTasks ?? 0) >= 2);
  expect((await cluster.deployment("died")).lifecycleStage).toBe("PRE_PRODUCTION_TRAFFIC_SHIFT");
  expect(await versionAt(url)).toBe("1");
  await cluster.client.send(new StopServiceDeploymentCommand({ serviceDeploymentArn }));
  await cluster.untilStatus("died", "ROLLBACK_SUCCESSFUL");
  expect(await versionAt(url)).toBe("1");
});

test("a deployment rolls back when its hook times out", async () => {
  const { url } = await live("timeout");
  await cluster.update("timeout", await cluster.register({ VERSION: "2" }), {
    deploymentConfiguration: hookAt("POST_TEST_TRAFFIC_SHIFT", 0.003),
  });
  const deployment = await cluster.untilStatus("timeout", "ROLLBACK_SUCCESSFUL");
  expect(deployment.lifecycleHookDetails).toMatchObject([{ status: "TIMED_OUT" }]);
  expect(deployment.statusReason).toMatch(/timed out/);
  expect(await versionAt(url)).toBe("1");
});

test("an update during a deployment stops the running deployment first: there are never two green versions", async () => {
  const { url, blue } = await live("super");
  await cluster.update("super", await cluster.register({ VERSION: "2" }));
  const { deployment: second } = await cluster.untilPaused("super");
  const third = await cluster.register({ VERSION: "3" });
  await cluster.update("super", third);
  await cluster.update("super", third);
  await cluster.untilPaused("super");
  expect(await versionAt(url)).toBe("1");
  expect(await versionAt(url, asTest)).toBe("3");
  expect((await cluster.tasks("super", "RUNNING")).map(({ taskDefinitionArn }) => taskDefinitionArn).sort()).toEqual(
    [blue, third].sort(),
  );
  const { serviceDeployments } = await cluster.client.send(
    new ListServiceDeploymentsCommand({ cluster: "slipway", service: "super" }),
  );
  expect(serviceDeployments?.map(({ status }) => status)).toEqual(["IN_PROGRESS", "STOPPED", "SUCCESSFUL"]);
  const old = await cluster.deploymentOf(second.serviceDeploymentArn ?? "");
  const hookId = old.lifecycleHookDetails?.[0]?.hookId;
  await expect(
    cluster.client.send(
      new ContinueServiceDeploymentCommand({ serviceDeploymentArn: old.serviceDeploymentArn, hookId }),
    ),
  ).rejects.toMatchObject({ name: "InvalidParameterException" });
  await cluster.act("super", "CONTINUE");
  expect(await versionAt(url)).toBe("3");
});

test("scaling to 0 stops the tasks, scaling to 1 starts the same revision, deleting stops the service", async () => {
  const { url, blue } = await live("scale");
  const scale = (desiredCount: number) =>
    cluster.client.send(new UpdateServiceCommand({ cluster: "slipway", service: "scale", desiredCount }));
  await scale(0);
  expect((await fetch(url)).status).toBe(503);
  await until(async () => (await cluster.tasks("scale", "RUNNING")).length === 0);
  const { service } = await scale(1);
  expect(service?.taskDefinition).toBe(blue);
  expect(await versionAt(url)).toBe("1");
  const remove = (force: boolean) => new DeleteServiceCommand({ cluster: "slipway", service: "scale", force });
  await expect(cluster.client.send(remove(false))).rejects.toMatchObject({ name: "InvalidParameterException" });
  await cluster.client.send(remove(true));
  await until(async () => (await cluster.describe("scale")).status === "INACTIVE");
  await expect(fetch(url)).rejects.toThrow();
  await expect(cluster.update("scale", blue)).rejects.toMatchObject({ name: "ServiceNotActiveException" });
  await live("scale", "9");
  expect(await versionAt(url)).toBe("9");
});

test("a task definition is deleted after it was deregistered, and no earlier than the service that uses it", async () => {
  const { client } = cluster;
  const old = await cluster.register({ VERSION: "1" });
  const { blue: used } = await live("definitions");
  const listed = async (status: "ACTIVE" | "INACTIVE" | "DELETE_IN_PROGRESS") => {
    const found: string[] = [];
    const config = { client, pageSize: 1 };
    for await (const page of paginateListTaskDefinitions(config, { familyPrefix: "app-1", status }))
      found.push(...(page.taskDefinitionArns ?? []));
    return found.filter((arn) => arn === old || arn === used);
  };
  const remove = (...taskDefinitions: string[]) => client.send(new DeleteTaskDefinitionsCommand({ taskDefinitions }));
  expect(await listed("ACTIVE")).toEqual([old, used]);
  expect((await remove(old)).failures).toMatchObject([{ arn: old }]);
  for (const taskDefinition of [old, used]) await client.send(new DeregisterTaskDefinitionCommand({ taskDefinition }));
  expect([await listed("ACTIVE"), await listed("INACTIVE")]).toEqual([[], [old, used]]);
  expect((await remove(old, used)).failures).toEqual([]);
  expect([await listed("INACTIVE"), await listed("DELETE_IN_PROGRESS")]).toEqual([[], [used]]);
  await client.send(new DeleteServiceCommand({ cluster: "slipway", service: "definitions", force: true }));
  await until(async () => (await cluster.describe("definitions")).status === "INACTIVE");
  await remove(used);
  expect(await listed("DELETE_IN_PROGRESS")).toEqual([]);
});

test("calls are idempotent and refuse as ECS does", async () => {
  const definition = await cluster.register({ VERSION: "1" });
  const { service } = await cluster.create("same", definition, direct);
  const again = await cluster.create("same", definition, direct);
  expect(again.service?.currentServiceDeployment).toBe(service?.currentServiceDeployment);
  await cluster.untilStatus("same", "SUCCESSFUL");
  const other = {
    cluster: "slipway",
    serviceName: "same",
    taskDefinition: definition,
    deploymentConfiguration: direct,
    gatewayConnectors: [{ portName: "http" }],
  };
  const { client } = cluster;
  const refused = async (command: Promise<unknown>, name: string) => expect(command).rejects.toMatchObject({ name });
  await refused(client.send(new CreateServiceCommand(other)), "InvalidParameterException");
  await refused(
    client.send(new CreateServiceCommand({ ...other, serviceName: "x", cluster: "y" })),
    "ClusterNotFoundException",
  );
  await refused(
    client.send(new CreateServiceCommand({ ...other, serviceName: "x", taskDefinition: "z" })),
    "ClientException",
  );
  const wrongPort = { ...other, serviceName: "x", gatewayConnectors: [{ portName: "grpc" }] };
  await refused(client.send(new CreateServiceCommand(wrongPort)), "InvalidParameterException");
  await refused(cluster.update("missing", definition), "ServiceNotFoundException");
  const stop = new StopServiceDeploymentCommand({ serviceDeploymentArn: "arn:aws:ecs:::service-deployment/a/b/c" });
  await refused(client.send(stop), "ServiceDeploymentNotFoundException");
  const { failures } = await client.send(new DescribeServicesCommand({ cluster: "slipway", services: ["missing"] }));
  expect(failures).toMatchObject([{ reason: "MISSING" }]);
});
