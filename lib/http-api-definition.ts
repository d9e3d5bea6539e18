import { Aws, Fn } from "aws-cdk-lib";
import type { Method } from "../api/route.ts";
import { functionArnText } from "./functions.ts";

/** A route and the function of the same name; without method and path: the function for all other requests. */
export interface Connection {
  id: string;
  method?: Method;
  path?: string;
}

/** API Gateway's own limit for an integration is 30 s. */
const integrationTimeoutMs = 29_000;

/** One `Fn::Sub` takes a quarter of the space that `Fn::Join` takes in the template. */
const lambdaPath = "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions";

function pathParameters(path: string) {
  const names = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name);
  return names.map((name) => ({ name, in: "path", required: true }));
}

/**
 * The routes as an OpenAPI definition with API Gateway's extensions. It names the functions instead of referring to
 * them, because some functions refer to the API's address, and CloudFormation refuses cycles (ADR 0018).
 */
export function apiDefinition(connections: readonly Connection[], invokerArn: string) {
  const paths: Record<string, Record<string, object>> = {};
  for (const { id, method, path } of connections) {
    const operation = {
      ...(path?.includes("{") && { parameters: pathParameters(path) }),
      responses: {},
      "x-amazon-apigateway-integration": {
        type: "aws_proxy",
        httpMethod: "POST",
        payloadFormatVersion: "2.0",
        timeoutInMillis: integrationTimeoutMs,
        credentials: invokerArn,
        uri: Fn.sub(`${lambdaPath}/${functionArnText(id)}/invocations`),
      },
    };
    if (method && path) paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
    else paths.$default = { "x-amazon-apigateway-any-method": { ...operation, isDefaultRoute: true } };
  }
  return { openapi: "3.0.1", info: { title: Aws.STACK_NAME, version: "1.0", description: "Slipway" }, paths };
}
