import {
  DescribeServiceDeploymentsCommand,
  DescribeServicesCommand,
  DescribeTaskDefinitionCommand,
  ECSClient,
  RegisterTaskDefinitionCommand,
  UpdateServiceCommand,
} from "@aws-sdk/client-ecs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { serviceName } from "../../../lambdas/aws/app-names.ts";
import { kind } from "../../../local/behavior.ts";
import { nodeApp } from "../../harness/app.ts";
import { runtimeOf } from "../../harness/signing.ts";
import { type FaultyProject, type FaultyService, holdsInvariants, startFaulty } from "./faulty-projects.ts";

let service: FaultyService;
let ecs: ECSClient;
/** The next description of a gateway route finds nothing. */
let isRouteGone = false;
beforeAll(async () => {
  service = await startFaulty({
    ...kind,
    faults({ operation }) {
      if (!isRouteGone || operation !== "DescribeGatewayRoute") return undefined;
      isRouteGone = false;
      return { kind: "refused", code: "ResourceNotFoundException" };
    },
  });
  ecs = new ECSClient({ ...runtimeOf(service.guarded.running.home), region: "us-east-1" });
});
afterAll(async () => {
  ecs.destroy();
  await service.stop();
});

const cluster = "slipway";

/** Deploys another task definition past the service, as somebody could in the console; returns it at its open hook. */
async function strangersDeployment(project: FaultyProject, old: string): Promise<string> {
  const name = serviceName(project.id);
  const { taskDefinition } = await ecs.send(new DescribeTaskDefinitionCommand({ taskDefinition: `slipway-${old}` }));
  const { containerDefinitions } = taskDefinition ?? {};
  const made = await ecs.send(new RegisterTaskDefinitionCommand({ family: "a-stranger", containerDefinitions }));
  const stranger = made.taskDefinition?.taskDefinitionArn;
  await ecs.send(new UpdateServiceCommand({ cluster, service: name, taskDefinition: stranger }));
  return vi.waitFor(
    async () => {
      const { services } = await ecs.send(new DescribeServicesCommand({ cluster, services: [name] }));
      const arn = services?.[0]?.currentServiceDeployment ?? "";
      const found = await ecs.send(new DescribeServiceDeploymentsCommand({ serviceDeploymentArns: [arn] }));
      const [hook] = found.serviceDeployments?.[0]?.lifecycleHookDetails ?? [];
      expect(hook?.status).toBe("AWAITING_ACTION");
      return arn;
    },
    { timeout: 30_000, interval: 50 },
  );
}

test("a rollback never continues a deployment that is not its build's, and the previous version serves", {
  timeout: 90_000,
}, async () => {
  const project = await service.newProject();
  const old = await service.deploy(project, nodeApp("res.end('old')"));
  const check = await holdsInvariants(service, project, "old");
  let stranger: Promise<string> | undefined;
  const { gate } = service.guarded;
  // The rollback reads its lock alone before it looks at the deployments.
  gate.before = async ({ operation, body }) => {
    const isRollBack = operation === "BatchGetItem" && body.includes(project.id) && body.split('"sk"').length === 2;
    if (!isRollBack || !body.includes('"LOCK"')) return undefined;
    stranger ??= strangersDeployment(project, old.id);
    await stranger;
    return undefined;
  };
  const continued: string[] = [];
  project.faults = ({ operation, input }) => {
    if (operation === "ContinueServiceDeployment") continued.push(input);
    return undefined;
  };
  const build = await service.deploy(project, nodeApp("", "process.exit(3);"));
  gate.before = undefined;
  project.faults = undefined;
  expect(build).toMatchObject({ status: "error" });
  const arn = (await stranger) ?? "never deployed";
  expect(continued.map((input) => JSON.parse(input))).toEqual([
    { serviceDeploymentArn: arn, hookId: expect.any(String), action: "ROLLBACK" },
  ]);
  await check(build, "old");
});

test("an address is read while the route of the service is deleted", async () => {
  const project = await service.newProject();
  isRouteGone = true;
  const answer = await project.call("GET", `${project.project}/endpoints`);
  expect(isRouteGone).toBe(false);
  expect(answer).toMatchObject({ status: 200, body: { endpoints: [expect.stringMatching(/^http/)] } });
});
