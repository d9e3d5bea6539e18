import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ContinueServiceDeploymentCommand,
  CreateServiceCommand,
  type DeploymentConfiguration,
  DescribeServiceDeploymentsCommand,
  DescribeServicesCommand,
  DescribeTasksCommand,
  ECSClient,
  type KeyValuePair,
  ListTasksCommand,
  RegisterTaskDefinitionCommand,
  type ServiceDeployment,
  UpdateServiceCommand,
} from "@aws-sdk/client-ecs";
import type { AwsServer } from "../../../local/aws/http-server.ts";
import { startAwsServer } from "../../../local/aws/server.ts";
import { createEcs, type Ecs, type EcsOptions } from "../../../local/ecs/server.ts";
import type { LogLine } from "../../../local/logs/server.ts";
import { openPorts } from "../../../local/ports.ts";
import { testKeys } from "../../harness/signing.ts";

export const testHeader = { name: "x-slipway-test", value: "secret" };
export const hookAt = (stage: "POST_TEST_TRAFFIC_SHIFT" | "POST_PRODUCTION_TRAFFIC_SHIFT", minutes = 10) =>
  ({
    strategy: "BLUE_GREEN",
    bakeTimeInMinutes: 0,
    lifecycleHooks: [
      {
        targetType: "PAUSE",
        lifecycleStages: [stage],
        timeoutConfiguration: { timeoutInMinutes: minutes, action: "ROLLBACK" },
      },
    ],
  }) satisfies DeploymentConfiguration;
export const paused = hookAt("POST_TEST_TRAFFIC_SHIFT");
export const direct = { strategy: "BLUE_GREEN", bakeTimeInMinutes: 0 } satisfies DeploymentConfiguration;

const nodeFolder = join(import.meta.dirname, "../../../node_modules/.bin");
export const searchPath = `${nodeFolder}:${process.env.PATH ?? "/usr/bin:/bin"}`;

/** Images of the tests: `app` runs app.cjs, `sh:<script>` and `py:<script>` run the script, others cannot be pulled. */
async function resolveImage(image: string) {
  const env = { PATH: searchPath };
  const cwd = join(import.meta.dirname, "fixtures");
  if (image === "app") return { cwd, env, command: ["node", "app.cjs"] };
  if (image.startsWith("sh:")) return { cwd, env, command: ["sh", "-c", image.slice(3)] };
  if (image.startsWith("py:")) return { cwd, env, command: ["python3", "-c", image.slice(3)] };
  if (image === "nothing") return { cwd, env, command: ["no-such-command"] };
  throw new Error("no such image");
}

export async function until<T>(
  read: () => Promise<T | undefined | false> | T | undefined | false,
  ms = 55_000,
): Promise<T> {
  const late = performance.now() + ms;
  // At longer intervals, because most reads are whole requests.
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.3, 60)) {
    const value = await read();
    if (value) return value;
    if (performance.now() > late) throw new Error("waited in vain");
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** True while a process runs; a zombie process has ended. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** A cluster with its own folder, an SDK client, and common test steps. */
export class TestCluster {
  readonly dir: string;
  readonly lines: LogLine[] = [];
  ecs!: Ecs;
  client!: ECSClient;
  #server!: AwsServer;

  constructor(dir = mkdtempSync(join(tmpdir(), "ecs-"))) {
    this.dir = dir;
  }

  async start(options: Partial<EcsOptions> = {}): Promise<this> {
    // As in the service: the system gives these ports to no connection of another process while an app is stopped.
    const ports = openPorts(this.dir);
    this.ecs = createEcs({
      dir: this.dir,
      clusterName: "slipway",
      gateway: { testHeader },
      logs: { put: (line) => void this.lines.push(line) },
      portFor: (name) => ports.of(name),
      freePortFor: (name) => ports.freeOf(name),
      resolveImage,
      ...options,
    });
    await this.ecs.resume();
    this.#server = await startAwsServer({ json: [this.ecs.service], credentials: testKeys });
    this.client = testClient(this.#server.endpoint);
    return this;
  }

  async stop(): Promise<void> {
    await this.ecs.close();
    this.client.destroy();
    await this.#server.close();
  }
  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  async register(env: Record<string, string>, image = "app", more: object = {}): Promise<string> {
    return registerTask(this.client, env, image, more);
  }
  async create(name: string, taskDefinition: string, deploymentConfiguration: DeploymentConfiguration = paused) {
    return createService(this.client, name, taskDefinition, deploymentConfiguration);
  }
  async update(service: string, taskDefinition: string, more: object = {}) {
    return this.client.send(new UpdateServiceCommand({ cluster: "slipway", service, taskDefinition, ...more }));
  }
  async describe(name: string) {
    const { services = [] } = await this.client.send(
      new DescribeServicesCommand({ cluster: "slipway", services: [name] }),
    );
    const [service] = services;
    if (!service) throw new Error("no such service");
    return service;
  }
  /** The newest deployment of a service. */
  async deployment(name: string): Promise<ServiceDeployment> {
    const { currentServiceDeployment: arn } = await this.describe(name);
    return this.deploymentOf(arn ?? "");
  }
  async deploymentOf(arn: string): Promise<ServiceDeployment> {
    const { serviceDeployments = [] } = await this.client.send(
      new DescribeServiceDeploymentsCommand({ serviceDeploymentArns: [arn] }),
    );
    const [deployment] = serviceDeployments;
    if (!deployment) throw new Error("no such deployment");
    return deployment;
  }
  async untilPaused(name: string) {
    return until(async () => {
      const deployment = await this.deployment(name);
      const hook = deployment.lifecycleHookDetails?.find(({ status }) => status === "AWAITING_ACTION");
      return hook && { deployment, hook };
    });
  }
  async act(name: string, action: "CONTINUE" | "ROLLBACK") {
    const { deployment, hook } = await this.untilPaused(name);
    const { serviceDeploymentArn } = deployment;
    await this.client.send(new ContinueServiceDeploymentCommand({ serviceDeploymentArn, hookId: hook.hookId, action }));
    return until(async () => {
      const now = await this.deploymentOf(serviceDeploymentArn ?? "");
      return /SUCCESSFUL|STOPPED/.test(now.status ?? "") && now;
    });
  }
  async untilStatus(name: string, status: string) {
    return until(async () => {
      const deployment = await this.deployment(name);
      return deployment.status === status && deployment;
    });
  }
  async tasks(name: string, desiredStatus: "RUNNING" | "STOPPED") {
    const { taskArns = [] } = await this.client.send(
      new ListTasksCommand({ cluster: "slipway", serviceName: name, desiredStatus }),
    );
    if (taskArns.length === 0) return [];
    const { tasks = [] } = await this.client.send(new DescribeTasksCommand({ cluster: "slipway", tasks: taskArns }));
    return tasks;
  }
  async url(name: string): Promise<string> {
    return publicUrl(this.client, name);
  }
}

export function testClient(endpoint: string): ECSClient {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return new ECSClient({ endpoint, region: "us-east-1", credentials, maxAttempts: 1 });
}

export async function registerTask(client: ECSClient, env: Record<string, string>, image = "app", more: object = {}) {
  const environment: KeyValuePair[] = Object.entries({ PORT: "8080", ...env }).map(([name, value]) => ({
    name,
    value,
  }));
  const { taskDefinition } = await client.send(
    new RegisterTaskDefinitionCommand({
      family: "app-1",
      cpu: "256",
      memory: "512",
      networkMode: "awsvpc",
      requiresCompatibilities: ["FARGATE"],
      containerDefinitions: [
        {
          name: "web",
          image,
          environment,
          portMappings: [{ containerPort: 8080, name: "http" }],
          logConfiguration: {
            logDriver: "awslogs",
            options: { "awslogs-group": "/apps", "awslogs-region": "us-east-1", "awslogs-stream-prefix": "app" },
          },
          stopTimeout: 2,
          ...more,
        },
      ],
    }),
  );
  return taskDefinition?.taskDefinitionArn ?? "";
}

export async function createService(
  client: ECSClient,
  serviceName: string,
  taskDefinition: string,
  deploymentConfiguration: DeploymentConfiguration,
) {
  return client.send(
    new CreateServiceCommand({
      cluster: "slipway",
      serviceName,
      taskDefinition,
      desiredCount: 1,
      clientToken: serviceName,
      launchType: "FARGATE",
      deploymentController: { type: "ECS" },
      deploymentConfiguration,
      gatewayConnectors: [{ portName: "http", healthCheck: { healthCheckTimeoutSeconds: 1 } }],
    }),
  );
}

export async function publicUrl(client: ECSClient, name: string): Promise<string> {
  const { ListGatewayRoutesCommand, DescribeGatewayRouteCommand } = await import("@aws-sdk/client-ecs");
  const { gatewayRoutes = [] } = await client.send(new ListGatewayRoutesCommand({ cluster: "slipway", service: name }));
  const { gatewayRoute } = await client.send(
    new DescribeGatewayRouteCommand({ gatewayRouteArn: gatewayRoutes[0]?.gatewayRouteArn ?? "" }),
  );
  return gatewayRoute?.serviceUrl ?? "";
}

/** The version that answers at an address. */
export async function versionAt(url: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(url, { headers });
  const body: unknown = await response.json().catch(() => ({}));
  return typeof body === "object" && body !== null && "version" in body
    ? String(body.version)
    : String(response.status);
}
