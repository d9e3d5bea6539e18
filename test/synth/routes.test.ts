import { expect, it } from "vitest";
import { capabilityEnvironment } from "../../api/environment.ts";
import { routes } from "../../api/index.ts";
import { handlerFiles } from "../../scripts/bundle/handlers.ts";
import { imageBuildServices, listeners, operatorUses, steps } from "../../statemachines/steps.ts";
import { ofType, resources } from "./assembly.ts";
import { functions, written } from "./policies.ts";

/** The handler of each route key in the template. */
function answering(): Map<string, string> {
  const handlerOf = (integration: string) => {
    const target = resources()[integration]?.Properties.IntegrationUri["Fn::GetAtt"][0];
    return resources()[target]?.Properties.Handler;
  };
  return new Map(
    ofType("AWS::ApiGatewayV2::Route").map(([, { Properties }]) => {
      const integration = /<(\w+)>$/.exec(written(Properties.Target))?.[1] ?? "";
      return [Properties.RouteKey, handlerOf(integration)];
    }),
  );
}

it("the API has exactly the contract's routes, and the file with the route's name handles each", () => {
  const contract = routes.map(
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

it("API Gateway may invoke a function for its own route only", () => {
  const permissions = ofType("AWS::Lambda::Permission").filter(
    ([, { Properties }]) => Properties.Principal === "apigateway.amazonaws.com",
  );
  expect(permissions).toHaveLength(routes.length + 1);
  for (const [, { Properties }] of permissions) {
    expect(written(Properties.SourceArn)).toMatch(/execute-api:<Region>:<AccountId>:<ServiceApi\w+>\/\*\/\*/);
  }
});

it("each function has exactly the variables of its capabilities", () => {
  const uses = new Map<string, readonly (keyof typeof capabilityEnvironment)[]>([
    ...routes.map((route) => [route.id, route.definition.uses] as const),
    ...Object.entries({ ...steps, ...listeners, ...imageBuildServices }).map(([id, step]) => [id, step.uses] as const),
    ["operator", operatorUses],
    ["not-found", []],
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
