import { describe, expect, test } from "vitest";
import { type Answers, useSteps } from "./steps.ts";

const definitionOf = (family: string) => `arn:aws:ecs:us-east-1:000000000000:task-definition/${family}:1`;
/** An ECS that has no service yet. */
const ecs: Answers = {
  DescribeServices: () => ({ services: [], failures: [{ reason: "MISSING" }] }),
  ListServiceDeployments: () => ({ serviceDeployments: [] }),
  RegisterTaskDefinition: ({ family }) => ({ taskDefinition: { taskDefinitionArn: definitionOf(family) } }),
  UpdateService: () => ({}),
  ListGatewayRoutes: () => ({ gatewayRoutes: [] }),
};
const steps = useSteps({ answers: () => ecs });
const image = { digest: "sha256:1", log: "build/1", warning: null, port: 8080 };

describe("deploy", () => {
  test("is retried if ECS does not list the deployment that it has started", async () => {
    const { deployment, buildId, rows } = await steps.newProject({ status: "building" });
    await expect(steps.invoke("deploy", { deployment, image })).rejects.toThrow("does not list the deployment");
    const { build } = await rows();
    expect(build).toMatchObject({ status: "deploying", taskDefinition: definitionOf(`slipway-${buildId}`) });
  });
});
