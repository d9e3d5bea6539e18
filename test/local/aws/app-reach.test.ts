import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CloudWatchLogsClient, DescribeLogStreamsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { CodeBuildClient, StopBuildCommand } from "@aws-sdk/client-codebuild";
import { ECSClient, ListServicesCommand } from "@aws-sdk/client-ecs";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { BeginTransactionCommand, RDSDataClient } from "@aws-sdk/client-rds-data";
import { ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { ListStateMachinesCommand, SFNClient } from "@aws-sdk/client-sfn";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { address, deploy, nodeApp } from "../../harness/app.ts";
import { type Running, startRunning } from "../../harness/service.ts";
import { type KeyPair, runtimeOf } from "../../harness/signing.ts";

/** The environment of a deployed app, and the calls that it allows. */
describe("a deployed app", () => {
  let running: Running;
  let variables: Record<string, string>;
  let own: KeyPair;
  const database = () => process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "";
  let given: string | undefined;

  beforeAll(async () => {
    given = process.env.AWS_ENDPOINT_URL_DYNAMODB;
    delete process.env.AWS_ENDPOINT_URL_DYNAMODB;
    running = await startRunning();
    const build = await deploy(running, nodeApp("res.end(JSON.stringify(process.env))"));
    expect(build).toMatchObject({ status: "ready" });
    variables = z.record(z.string(), z.string()).parse(await (await fetch(await address(running))).json());
    const answer = await fetch(variables.AWS_CONTAINER_CREDENTIALS_FULL_URI ?? "", {
      headers: { authorization: variables.AWS_CONTAINER_AUTHORIZATION_TOKEN ?? "" },
    });
    const issued = z.object({ AccessKeyId: z.string(), SecretAccessKey: z.string(), Token: z.string() });
    const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token } = issued.parse(await answer.json());
    own = { accessKeyId, secretAccessKey, sessionToken: Token };
  }, 60_000);
  afterAll(async () => {
    await running.stop();
    if (given !== undefined) process.env.AWS_ENDPOINT_URL_DYNAMODB = given;
  });

  it("gets the address of STS and of no other embedded service", () => {
    const endpoints = Object.keys(variables).filter((name) => name.startsWith("AWS_ENDPOINT_URL"));
    expect(endpoints).toEqual(["AWS_ENDPOINT_URL_STS"]);
    const told = JSON.stringify(variables);
    for (const hidden of [runtimeOf(running.home).endpoint, database()]) {
      expect(hidden).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(told).not.toContain(new URL(hidden).port);
    }
    expect(told).not.toContain(runtimeOf(running.home).credentials.secretAccessKey);
  });

  it("does not find the port of the database, which checks no keys, in any of the service's files", () => {
    const files = readdirSync(running.home, { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(["local.json", "ports.json", "runtime.json"]));
    for (const { name } of files.filter((file) => file.name.endsWith(".json"))) {
      expect(readFileSync(join(running.home, name), "utf8")).not.toContain(new URL(database()).port);
    }
  });

  it("can call GetCallerIdentity with its own credentials", async () => {
    const sts = new STSClient({
      endpoint: variables.AWS_ENDPOINT_URL_STS ?? "",
      region: "us-east-1",
      credentials: own,
    });
    expect((await sts.send(new GetCallerIdentityCommand({}))).Arn).toContain(":assumed-role/slipway-app/");
    sts.destroy();
  });

  const target = {
    resourceArn: "arn:aws:rds:us-east-1:000000000000:cluster:slipway",
    secretArn: "arn:aws:secretsmanager:us-east-1:000000000000:secret:slipway",
  };
  interface Client {
    destroy(): void;
  }
  const attempts: [string, (options: object) => [Client, Promise<unknown>]][] = [
    [
      "Lambda",
      (options) => {
        const client = new LambdaClient(options);
        return [client, client.send(new InvokeCommand({ FunctionName: "operator", Payload: Buffer.from("{}") }))];
      },
    ],
    [
      "RDS Data",
      (options) => {
        const client = new RDSDataClient(options);
        return [client, client.send(new BeginTransactionCommand(target))];
      },
    ],
    [
      "Step Functions",
      (options) => {
        const client = new SFNClient(options);
        return [client, client.send(new ListStateMachinesCommand({}))];
      },
    ],
    [
      "CodeBuild",
      (options) => {
        const client = new CodeBuildClient(options);
        return [client, client.send(new StopBuildCommand({ id: "slipway-images:1" }))];
      },
    ],
    [
      "ECS",
      (options) => {
        const client = new ECSClient(options);
        return [client, client.send(new ListServicesCommand({ cluster: "slipway" }))];
      },
    ],
    [
      "Logs",
      (options) => {
        const client = new CloudWatchLogsClient(options);
        return [client, client.send(new DescribeLogStreamsCommand({ logGroupName: "/slipway/apps" }))];
      },
    ],
  ];
  it.each(attempts)("cannot call %s with its credentials on any port", async (_, attempt) => {
    const ports = { aws: runtimeOf(running.home).endpoint, sts: variables.AWS_ENDPOINT_URL_STS };
    for (const [name, endpoint] of Object.entries(ports)) {
      const [client, call] = attempt({ endpoint, region: "us-east-1", credentials: own, maxAttempts: 1 });
      await expect(call).rejects.toMatchObject({
        name: name === "aws" ? "AccessDeniedException" : "UnknownOperationException",
      });
      client.destroy();
    }
  });

  it("cannot use S3 with its credentials", async () => {
    const endpoint = process.env.AWS_ENDPOINT_URL_S3 ?? "";
    const s3 = new S3Client({ endpoint, region: "us-east-1", credentials: own, forcePathStyle: true });
    const call = s3.send(new ListObjectsV2Command({ Bucket: "slipway-archives" }));
    await expect(call).rejects.toMatchObject({ name: "AccessDenied" });
    s3.destroy();
  });
});
