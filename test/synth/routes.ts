import { expect, it } from "vitest";
import { capabilityEnvironment } from "../../api/environment.ts";
import { routes } from "../../api/index.ts";
import { pageRoutes, pages } from "../../api/pages.ts";
import { handlerFiles } from "../../scripts/bundle/handlers.ts";
import { imageBuildServices, listeners, operatorUses, removalSteps, steps } from "../../statemachines/steps.ts";
import { ofType, resources } from "./assembly.ts";
import { functions, grantsOf, written } from "./policies.ts";

interface Operation {
  isDefaultRoute?: boolean;
  parameters?: { name: string; in: string; required: boolean }[];
  "x-amazon-apigateway-integration": { uri: unknown; credentials: unknown; type: string; payloadFormatVersion: string };
}

/** The operation of each route key in the definition that API Gateway imports. */
function operations(): Map<string, Operation> {
  const [, api] = ofType("AWS::ApiGatewayV2::Api")[0] ?? [];
  const paths: Record<string, Record<string, Operation>> = api?.Properties.Body.paths;
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [
        operation.isDefaultRoute ? path : `${method.toUpperCase()} ${path}`,
        operation,
      ]),
    ),
  );
}

/** The function that an operation invokes, by its ARN. */
function invoked(operation: Operation): string {
  const { uri } = operation["x-amazon-apigateway-integration"];
  const prefix = "arn:<Partition>:apigateway:<Region>:lambda:path/2015-03-31/functions/";
  return written(uri)
    .replace(prefix, "")
    .replace(/\/invocations$/, "");
}

/** The handler of each route key in the template. */
function answering(): Map<string, string | undefined> {
  const named = new Map(functions().map(({ id, handler }) => [`${functionArnPrefix}${id}`, handler]));
  return new Map([...operations()].map(([key, operation]) => [key, named.get(invoked(operation))]));
}

const functionArnPrefix = "arn:<Partition>:lambda:<Region>:<AccountId>:function:<StackName>-";

it("the API has exactly the contract's routes, and the file with the route's name handles each", () => {
  const contract = [...routes, ...pageRoutes].map(
    ({ id, method, path, resource }) => [`${method} ${path}`, `${resource}/${id}.handler`] as const,
  );
  expect(answering()).toEqual(new Map([...contract, ["$default", "service/not-found.handler"]]));
});

it("no route has two functions and no function two names", () => {
  const ids = functions().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(
    functions()
      .map(({ handler }) => handler)
      .sort(),
  ).toEqual(handlerFiles.map((file) => `${file}.handler`).sort());
});

it("each path parameter is declared, and each integration passes the event as payload 2.0", () => {
  for (const [key, operation] of operations()) {
    const names = [...key.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => ({ name, in: "path", required: true }));
    expect([key, operation.parameters ?? []]).toEqual([key, names]);
    expect(operation["x-amazon-apigateway-integration"]).toMatchObject({
      type: "aws_proxy",
      payloadFormatVersion: "2.0",
    });
  }
});

it("API Gateway may invoke the routes' functions only, with a role that nothing else can assume", () => {
  const all = [...operations().values()];
  const [credentials = "", ...others] = new Set(
    all.map((operation) => written(operation["x-amazon-apigateway-integration"].credentials)),
  );
  expect(others).toEqual([]);
  const id = credentials.slice(1, -1);
  const grants = grantsOf(id);
  expect([...new Set(grants.map(({ action }) => action))]).toEqual(["lambda:InvokeFunction"]);
  expect(grants.map(({ resource }) => resource).sort()).toEqual([...new Set(all.map(invoked))].sort());
  expect(grants).toHaveLength(routes.length + pages.length + 1);
  const trust = resources()[id]?.Properties.AssumeRolePolicyDocument.Statement;
  expect(trust).toEqual([
    { Action: "sts:AssumeRole", Effect: "Allow", Principal: { Service: "apigateway.amazonaws.com" } },
  ]);
  const permitted = ofType("AWS::Lambda::Permission").map(([, { Properties }]) => Properties.Principal);
  expect(new Set(permitted)).toEqual(new Set(["events.amazonaws.com"]));
});

it("each function has exactly the variables of its capabilities", () => {
  const uses = new Map<string, readonly (keyof typeof capabilityEnvironment)[]>([
    ...routes.map((route) => [route.id, route.definition.uses] as const),
    ...Object.entries({ ...steps, ...removalSteps, ...listeners, ...imageBuildServices }).map(
      ([id, step]) => [id, step.uses] as const,
    ),
    ["operator", operatorUses],
    ["not-found", []],
    ...pages.map(({ id, uses }) => [id, uses] as const),
  ]);
  for (const { id, environment } of functions()) {
    const names = new Set((uses.get(id) ?? []).flatMap((capability) => capabilityEnvironment[capability]));
    expect([id, Object.keys(environment).sort()]).toEqual([id, [...names].sort()]);
  }
});

it("API Gateway writes an access log and bounds the rate of calls", () => {
  const [, stage] = ofType("AWS::ApiGatewayV2::Stage")[0] ?? [];
  expect(stage?.Properties.AccessLogSettings.Format).toContain("$context.requestId");
  expect(stage?.Properties.DefaultRouteSettings).toMatchObject({
    ThrottlingRateLimit: 1000,
    ThrottlingBurstLimit: 500,
  });
});
