import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import * as iam from "aws-cdk-lib/aws-iam";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { pageRoutes, pages } from "../api/pages.ts";
import { capabilitiesOf, type Route } from "../api/route.ts";
import { roleFor } from "./allow.ts";
import { type Functions, functionArn } from "./functions.ts";
import { apiDefinition, type Connection } from "./http-api-definition.ts";

/** A request's deadline is 3 s before this (`lambdas/http/deadline.ts`), and API Gateway gives up after 29 s. */
const routeTimeoutSeconds = 25;
/** In MiB. More memory also means more CPU, which shortens a cold start. */
const routeMemory = 1024;

const accessLogFormat = JSON.stringify({
  requestId: "$context.requestId",
  at: "$context.requestTime",
  route: "$context.routeKey",
  status: "$context.status",
  latencyMs: "$context.responseLatency",
  bytes: "$context.responseLength",
  ip: "$context.identity.sourceIp",
  error: "$context.integrationErrorMessage",
});

/** A route with the folder of its handler below lambdas/. */
export type ServedRoute = Route & { resource: string };

/** The HTTP API; `connect` adds the routes with their functions. */
export class ServiceApi extends Construct {
  readonly api: apigateway.HttpApi;
  readonly host: string;
  readonly address: string;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.api = new apigateway.HttpApi(this, "Api", { createDefaultStage: false });
    const accessLogs = new logs.LogGroup(this, "AccessLogs", {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    new apigateway.HttpStage(this, "Stage", {
      httpApi: this.api,
      stageName: "$default",
      autoDeploy: true,
      throttle: { rateLimit: 1000, burstLimit: 500 },
      accessLogSettings: {
        destination: new apigateway.LogGroupLogDestination(accessLogs),
        format: AccessLogFormat.custom(accessLogFormat),
      },
    });
    const { region, urlSuffix } = Stack.of(this);
    this.host = `${this.api.apiId}.execute-api.${region}.${urlSuffix}`;
    this.address = `https://${this.host}`;
  }

  /**
   * Adds one function per route, and one for all other requests. Handlers authenticate every caller themselves: an
   * authorizer's cache would still accept a revoked key.
   */
  connect(functions: Functions, props: { routes: readonly ServedRoute[]; databases: boolean }): void {
    const served = props.routes.filter(
      ({ definition }) => props.databases || !definition.uses.includes("databases:run"),
    );
    for (const route of served) {
      functions.add({
        id: route.id,
        folder: route.resource,
        uses: capabilitiesOf(route),
        timeoutSeconds: routeTimeoutSeconds,
        memory: routeMemory,
        description: route.definition.summary,
      });
    }
    for (const { id, resource, summary, uses } of pages) {
      functions.add({
        id,
        folder: resource,
        uses,
        timeoutSeconds: routeTimeoutSeconds,
        memory: routeMemory,
        description: summary,
      });
    }
    functions.add({
      id: "not-found",
      folder: "service",
      uses: [],
      timeoutSeconds: 5,
      memory: 256,
      description: "Answers requests that match no route.",
    });
    this.#define([...served, ...pageRoutes, { id: "not-found" }]);
  }

  /** Imports the routes as one definition: a resource for each route and integration would be a third of the stack. */
  #define(connections: Connection[]): void {
    const invoker = roleFor(this, "Invoker", {
      description: "Invokes the functions of the API's routes",
      // Only a principal of this account can pass this role to API Gateway, so the trust needs no condition.
      assumedBy: new iam.ServicePrincipal("apigateway.amazonaws.com"),
      allow: [{ actions: ["lambda:InvokeFunction"], resources: connections.map(({ id }) => functionArn(id)) }],
    });
    const api = this.api.node.defaultChild as apigateway.CfnApi;
    api.body = apiDefinition(connections, invoker.roleArn);
    // The definition contains the name; with a definition, API Gateway takes neither from here.
    api.name = undefined;
    api.protocolType = undefined;
  }
}
