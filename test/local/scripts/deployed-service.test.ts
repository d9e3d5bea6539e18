import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ECSClient, ListGatewayRoutesCommand } from "@aws-sdk/client-ecs";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { SFNClient } from "@aws-sdk/client-sfn";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { smokeTest } from "../../../scripts/aws/smoke-test.ts";
import { appServices, endDeployments, removeServices } from "../../../scripts/aws/stop-apps.ts";
import { type Running, startRunning } from "../../harness/service.ts";

const runtime = z.object({ awsEndpoint: z.string(), accessKeyId: z.string(), secretAccessKey: z.string() });
/** The variables of a deployed function, by which the scripts find a service; here they are those of this process. */
const variable = (name: string) => z.string().parse(process.env[name]);
let running: Running;
let clients: { lambda: LambdaClient; ecs: ECSClient; sfn: SFNClient };

beforeAll(async () => {
  running = await startRunning();
  const { awsEndpoint: endpoint, ...credentials } = runtime.parse(
    JSON.parse(readFileSync(join(running.home, "runtime.json"), "utf8")),
  );
  const options = { endpoint, region: "us-east-1", credentials };
  clients = { lambda: new LambdaClient(options), ecs: new ECSClient(options), sfn: new SFNClient(options) };
});
afterAll(async () => {
  for (const client of Object.values(clients)) client.destroy();
  await running.stop();
});

it("a working service passes every check of the smoke test", async () => {
  const lines: string[] = [];
  const service = {
    apiAddress: running.seed.baseUrl,
    operator: "operator",
    lambda: clients.lambda,
    apps: { ecs: clients.ecs, cluster: variable("CLUSTER_NAME") },
    broken: "crashes",
  } as const;
  const orgId = await smokeTest(service, (line) => lines.push(line));
  expect(orgId).toMatch(/^org_/);
  expect(lines).toContainEqual(expect.stringMatching(/^-- {2}from RUNNING to the open hook: \d+\.\d s$/));
  expect(lines.filter((line) => line.startsWith("ok"))).toEqual([
    "ok  a broken first deployment ends with status error",
    "ok  it is not live",
    "ok  nothing serves",
    "ok  a working app becomes ready",
    "ok  it is live",
    "ok  its address answers 200",
    "ok  a broken app ends with status error",
    "ok  meanwhile every public request got 200",
    "ok  the working app is still live",
    "ok  its address still answers 200",
  ]);
});

it("a smoke test without an operator function fails with the name of the function", async () => {
  const service = {
    apiAddress: running.seed.baseUrl,
    operator: "Other-operator",
    lambda: clients.lambda,
    apps: { ecs: clients.ecs, cluster: variable("CLUSTER_NAME") },
    broken: "crashes",
  } as const;
  await expect(smokeTest(service, () => {})).rejects.toThrow("Other-operator");
});

it("a teardown stops the running deployments, and their builds end as error", async () => {
  const { body } = await running.call("POST", `${running.project}/builds`);
  expect(await endDeployments(clients.sfn, variable("STATE_MACHINE_ARN"))).toBe(1);
  expect(await endDeployments(clients.sfn, variable("STATE_MACHINE_ARN"))).toBe(0);
  await expect
    .poll(async () => (await running.call("GET", `${running.project}/builds/${body.build.id}`)).body.build.status)
    .toBe("error");
});

it("a teardown stops every app, and waits until the gateway has deregistered them", async () => {
  const cluster = variable("CLUSTER_NAME");
  const services = await appServices(clients.ecs, cluster);
  expect(services).toEqual([expect.stringMatching(/^app-prj-/)]);
  await removeServices(clients.ecs, cluster, services, 1);
  const { gatewayRoutes } = await clients.ecs.send(new ListGatewayRoutesCommand({ cluster }));
  expect([await appServices(clients.ecs, cluster), gatewayRoutes]).toEqual([[], []]);
  await removeServices(clients.ecs, cluster, []);
});
