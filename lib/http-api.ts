import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { routes } from "../api/index.ts";
import { capabilitiesOf } from "../api/route.ts";
import type { Functions } from "./functions.ts";
import { suppressNag } from "./nag-suppressions.ts";

/** API Gateway ends a request after 30 s, so the function must answer before that for the client to see the error. */
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

/** The HTTP API without routes; `connect` adds each route of the contract with its function. */
export class ServiceApi extends Construct {
  readonly api: apigateway.HttpApi;
  readonly host: string;
  readonly address: string;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.api = new apigateway.HttpApi(this, "Api", {
      apiName: Stack.of(this).stackName,
      description: "Slipway",
      createDefaultStage: false,
    });
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

  #route(id: string, key: apigateway.HttpRouteKey, handler: lambda.IFunction): void {
    const route = new apigateway.HttpRoute(this, id, {
      httpApi: this.api,
      routeKey: key,
      integration: new HttpLambdaIntegration(id, handler, { timeout: Duration.seconds(29) }),
    });
    suppressNag(route, {
      APIG4: "The handler authenticates every caller itself: an authorizer's cache would still accept a revoked key.",
    });
  }

  /** Adds one function per route of the contract, and one for all other requests. */
  connect(functions: Functions, props: { databases: boolean }): void {
    for (const route of routes) {
      const { id, method, path, definition, resource } = route;
      if (!props.databases && definition.uses.includes("databases:run")) continue;
      const handler = functions.add({
        id,
        folder: resource,
        uses: capabilitiesOf(route),
        timeoutSeconds: routeTimeoutSeconds,
        memory: routeMemory,
        description: definition.summary,
      });
      this.#route(id, apigateway.HttpRouteKey.with(path, apigateway.HttpMethod[method]), handler);
    }
    const notFound = functions.add({
      id: "not-found",
      folder: "service",
      uses: [],
      timeoutSeconds: 5,
      memory: 256,
      description: "Answers requests that match no route.",
    });
    this.#route("not-found", apigateway.HttpRouteKey.DEFAULT, notFound);
  }
}
