import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CodeBuildClient, StartBuildCommand } from "@aws-sdk/client-codebuild";
import { DynamoDBClient, GetItemCommand, TransactWriteItemsCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import {
  CreateServiceCommand,
  DescribeServicesCommand,
  ECSClient,
  RegisterTaskDefinitionCommand,
} from "@aws-sdk/client-ecs";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AwsCall, type CallFault, withFaults } from "../../../local/aws/call-faults.ts";
import { startAwsServer } from "../../../local/aws/server.ts";
import { drawnFaults } from "../../../local/behavior.ts";
import { createCodeBuild } from "../../../local/codebuild/server.ts";
import { startFaultyDynamoDb } from "../../../local/dynamodb/proxy.ts";
import { startDynamoDb } from "../../../local/dynamodb/server.ts";
import { createEcs } from "../../../local/ecs/server.ts";
import { startStsServer, stsService } from "../../../local/sts/server.ts";
import { testKey, testKeys } from "../../harness/signing.ts";
import { startFixture, until } from "../s3/fixture.ts";

describe("a fault of one call", () => {
  const dir = mkdtempSync(join(tmpdir(), "faults-"));
  const started = new AsyncDisposableStack();
  let next: CallFault | undefined;
  let calls: AwsCall[] = [];
  const faults = (call: AwsCall) => {
    calls.push(call);
    const fault = next;
    next = undefined;
    return fault;
  };
  const common = { region: "us-east-1", credentials: testKey, maxAttempts: 1 };
  let ecs: ECSClient;
  let dynamo: DynamoDBClient;

  beforeAll(async () => {
    const cluster = createEcs({
      dir: join(dir, "ecs"),
      clusterName: "c",
      gateway: { testHeader: { name: "x-test", value: "1" } },
      logs: { put: () => {} },
      portFor: () => 0,
      resolveImage: () => Promise.reject(new Error("no image")),
    });
    const aws = await startAwsServer({ json: [withFaults("ECS", cluster.service, faults)], credentials: testKeys });
    ecs = new ECSClient({ ...common, endpoint: aws.endpoint });
    started.defer(cluster.close);
    started.defer(aws.close);
    const database = await startDynamoDb({ file: join(dir, "table.db"), tableName: "table" });
    const proxy = await startFaultyDynamoDb(database.endpoint, faults);
    dynamo = new DynamoDBClient({ ...common, endpoint: proxy.endpoint });
    started.defer(database.close);
    started.defer(proxy.close);
  });
  afterAll(async () => {
    ecs?.destroy();
    dynamo?.destroy();
    await started.disposeAsync();
    rmSync(dir, { recursive: true, force: true });
  });
  beforeEach(() => {
    calls = [];
  });

  const register = (family: string) =>
    ecs.send(
      new RegisterTaskDefinitionCommand({
        family,
        containerDefinitions: [{ name: "app", image: "i", portMappings: [{ name: "http", containerPort: 80 }] }],
      }),
    );
  const key = { pk: { S: "p" }, sk: { S: "s" } };
  const Update = {
    TableName: "table",
    Key: key,
    UpdateExpression: "SET a = :a",
    ExpressionAttributeValues: { ":a": { N: "1" } },
  };
  const transaction = () =>
    dynamo.send(
      new TransactWriteItemsCommand({
        TransactItems: [{ Update }, { Delete: { TableName: "table", Key: { ...key, sk: { S: "z" } } } }],
      }),
    );

  test.each([
    [{ kind: "throttled" }, "ThrottlingException", 400],
    [{ kind: "failed" }, "ServerException", 500],
    [{ kind: "refused", code: "ClientException" }, "ClientException", 400],
  ] as [CallFault, string, number][])(
    "of ECS, %j, is the error of ECS and changes nothing",
    async (fault, name, status) => {
      next = fault;
      await expect(register(name)).rejects.toMatchObject({ name, $metadata: { httpStatusCode: status } });
      expect((await register(name)).taskDefinition?.revision).toBe(1);
      expect(calls.map(({ operation }) => operation)).toEqual(["RegisterTaskDefinition", "RegisterTaskDefinition"]);
    },
  );

  test("of ECS that loses or delays an answer comes after the work", async () => {
    next = { kind: "lost" };
    await expect(register("lost")).rejects.toMatchObject({ code: "ECONNRESET" });
    next = { kind: "late", ms: 50 };
    const began = performance.now();
    expect((await register("lost")).taskDefinition?.revision).toBe(2);
    expect(performance.now() - began).toBeGreaterThanOrEqual(49);
  });

  test("of an eventually consistent read returns the last answer, or the one from before the resource existed", async () => {
    const { taskDefinition } = await register("stale");
    const read = async () => {
      const { services, failures } = await ecs.send(new DescribeServicesCommand({ cluster: "c", services: ["s"] }));
      return services?.[0]?.desiredCount ?? failures?.[0]?.reason;
    };
    const service = {
      cluster: "c",
      serviceName: "s",
      taskDefinition: taskDefinition?.taskDefinitionArn,
      desiredCount: 0,
      deploymentConfiguration: { strategy: "BLUE_GREEN" as const, bakeTimeInMinutes: 0 },
      gatewayConnectors: [{ portName: "http" }],
    };
    await ecs.send(new CreateServiceCommand(service));
    next = { kind: "stale" };
    expect(await read()).toBe("MISSING");
    expect(await read()).toBe(0);
    next = { kind: "stale" };
    expect(await read()).toBe(0);
  });

  test.each([
    ["throttled", "TransactionCanceledException", "ThrottlingError"],
    ["conflict", "TransactionCanceledException", "TransactionConflict"],
  ] as const)("of a transaction, %s, names the reason for every action", async (kind, name, Code) => {
    next = { kind };
    await expect(transaction()).rejects.toMatchObject({ name, CancellationReasons: [{ Code }, { Code }] });
    const { Item } = await dynamo.send(new GetItemCommand({ TableName: "table", Key: key }));
    expect(Item).toBeUndefined();
  });

  test("of DynamoDB has the error of its call", async () => {
    const get = () => dynamo.send(new GetItemCommand({ TableName: "table", Key: key }));
    next = { kind: "throttled" };
    await expect(get()).rejects.toMatchObject({ name: "ProvisionedThroughputExceededException" });
    next = { kind: "failed" };
    await expect(get()).rejects.toMatchObject({ name: "InternalServerError", $fault: "server" });
    next = { kind: "conflict" };
    await expect(dynamo.send(new UpdateItemCommand(Update))).rejects.toMatchObject({
      name: "TransactionConflictException",
    });
    next = { kind: "lost" };
    await expect(dynamo.send(new UpdateItemCommand(Update))).rejects.toMatchObject({ code: "ECONNRESET" });
    expect((await get()).Item).toMatchObject({ a: { N: "1" } });
  });

  test("of STS is Throttling, without the word Exception", async () => {
    const credentials = { find: () => ({ secretAccessKey: "local", principalArn: "arn:aws:iam::000000000000:root" }) };
    const server = await startStsServer([
      stsService({ credentials: { ...credentials, issue: () => Promise.reject(), root: testKey } as never, faults }),
    ]);
    const sts = new STSClient({ ...common, endpoint: server.endpoint });
    next = { kind: "throttled" };
    const ask = () => sts.send(new GetCallerIdentityCommand({}));
    await expect(ask()).rejects.toMatchObject({ name: "Throttling", $metadata: { httpStatusCode: 400 } });
    next = { kind: "lost" };
    await expect(ask()).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(await ask()).toMatchObject({ Account: "000000000000" });
    sts.destroy();
    await server.close();
  });

  test("of S3 is SlowDown, and an upload that is refused stores nothing", async () => {
    const s3 = await startFixture({ faults });
    const put = () => s3.client.send(new PutObjectCommand({ Bucket: "archives", Key: "k", Body: "x" }));
    next = { kind: "throttled" };
    await expect(put()).rejects.toMatchObject({ name: "SlowDown", $metadata: { httpStatusCode: 503 } });
    next = { kind: "failed" };
    await expect(put()).rejects.toMatchObject({ name: "InternalError", $metadata: { httpStatusCode: 500 } });
    expect(s3.events).toEqual([]);
    next = { kind: "lost" };
    await expect(put()).rejects.toThrow();
    await until(() => s3.events[0], "the event of the upload whose answer was lost");
    await s3.stop();
  });

  test("of CodeBuild above the account's limit is refused, and queued builds run in turn", async () => {
    const running: string[] = [];
    const releases: (() => void)[] = [];
    const builds = await createCodeBuild({
      projectName: "p",
      region: "us-east-1",
      workDir: join(dir, "builds"),
      logGroup: "l",
      log: () => {},
      behavior: { concurrentBuilds: 1, queuedBuilds: 1, provisioningMs: 0, statusMs: 0 },
      builder: async ({ variables }) => {
        running.push(variables.N ?? "");
        await new Promise<void>((resolve) => void releases.push(resolve));
        return { IMAGE_DIGEST: "d" };
      },
    });
    const aws = await startAwsServer({ json: [builds.service], credentials: testKeys });
    const client = new CodeBuildClient({ ...common, endpoint: aws.endpoint });
    const start = (value: string) =>
      client.send(
        new StartBuildCommand({
          projectName: "p",
          environmentVariablesOverride: [{ name: "N", value }],
          idempotencyToken: value,
        }),
      );
    await start("1");
    const { build: second } = await start("2");
    await expect(start("3")).rejects.toMatchObject({
      name: "AccountLimitExceededException",
      message: "Cannot have more than 1 builds in queue for the account",
    });
    expect((await start("2")).build?.id).toBe(second?.id);
    await until(() => releases.length === 1, "the first build");
    releases[0]?.();
    await until(() => releases.length === 2, "the second build");
    expect(running).toEqual(["1", "2"]);
    releases[1]?.();
    expect(await builds.finished(second?.id ?? "", new AbortController().signal)).toMatchObject({
      buildStatus: "SUCCEEDED",
    });
    client.destroy();
    await aws.close();
    await builds.close();
  });
});

test("cloud chooses the same faults for the same seed, of every kind, and never two in a row", () => {
  const run = (seed: number) => {
    const faults = drawnFaults(seed);
    return Array.from({ length: 60 }, () => faults({ service: "ECS", operation: "DescribeServices", input: "" })?.kind);
  };
  const drawn = run(1);
  expect(run(1)).toEqual(drawn);
  expect(run(2)).not.toEqual(drawn);
  expect(new Set(drawn)).toEqual(new Set([undefined, "throttled", "failed", "late", "stale"]));
  expect(drawn.filter((kind) => kind !== undefined)).toHaveLength(15);
  expect(drawn.some((kind, index) => kind !== undefined && drawn[index + 1] !== undefined)).toBe(false);
});
