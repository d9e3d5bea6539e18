import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod";
import { RedeployableBuilds } from "../../../lambdas/builds/model/rows.ts";
import { documentClient } from "../../../lambdas/table/client.ts";
import { newId } from "../../../lambdas/table/ids.ts";
import { tableWriter } from "../../../lambdas/table/writer.ts";
import type { AwsServer } from "../../../local/aws/http-server.ts";
import { startAwsServer } from "../../../local/aws/server.ts";
import { AwsError, type JsonService, operation } from "../../../local/aws/service.ts";
import { type DynamoDb, startDynamoDb } from "../../../local/dynamodb/server.ts";
import { startS3 } from "../../../local/s3/server.ts";
import { startStsServer, stsService } from "../../../local/sts/server.ts";
import { openCredentials } from "../../../local/sts/store.ts";
import { imageBuildServices } from "../../../statemachines/steps.ts";

const now = new Date();
const [organizationId, projectId, buildId] = [newId("org", now), newId("prj", now), newId("bld", now)];
const imageBuildId = "Slipway-build:0f8fad5b-d9cb-469f-a165-70867728950e";
const key = `archives/${organizationId}/${projectId}/${buildId}.zip`;
const { output } = imageBuildServices["grant-build-access"];

const dir = mkdtempSync(join(tmpdir(), "slipway-grant-access-"));
const credentials = openCredentials({ dir });
const builds = new Map<string, object>();
const repositories = new Map<string, { settings: object; lifecycle?: string }>();
/** Each call of the registry with its signer. */
const registryCalls: [call: string, principal: string | undefined][] = [];
/** The policy that each session was opened with. */
const sessionPolicies: unknown[] = [];
let sessionSeconds = 0;
let broken: string | undefined;

/** BatchGetBuilds as AWS documents it: the existing builds, with the variables that they were started with. */
const codeBuild: JsonService = {
  target: "CodeBuild_20161006",
  operations: {
    BatchGetBuilds: operation(z.object({ ids: z.array(z.string()) }), ({ ids }) => ({
      builds: ids.flatMap((id) => builds.get(id) ?? []),
      buildsNotFound: ids.filter((id) => !builds.has(id)),
    })),
  },
};

/** What ECS serves, and the statuses of the deployments of the project's service. */
const ecsState = { live: null as string | null, unfinished: false, isBroken: false, reads: 0 };
const ecs: JsonService = {
  target: "AmazonEC2ContainerServiceV20141113",
  operations: {
    DescribeServices: operation(z.looseObject({}), () => {
      ecsState.reads += 1;
      if (ecsState.isBroken) throw new AwsError("ServerException", "broken", 500);
      if (ecsState.live === null) return { services: [], failures: [{ reason: "MISSING" }] };
      return { services: [{ status: "ACTIVE", desiredCount: 1, taskDefinition: ecsState.live }], failures: [] };
    }),
    ListServiceDeployments: operation(z.looseObject({}), () => ({
      serviceDeployments: ecsState.unfinished ? [{ serviceDeploymentArn: "arn:d", status: "IN_PROGRESS" }] : [],
    })),
  },
};
const liveIs = (build: string) => `arn:aws:ecs:us-east-1:000000000000:task-definition/slipway-${build}:1`;

/** The tagged images of the project's repository, by the days since they were pushed. */
const images = new Map<string, number>();
const imageId = z.object({ imageTag: z.string() });

const named = z.looseObject({ repositoryName: z.string(), lifecyclePolicyText: z.string().optional() });

/** The registry as AWS documents it: a repository can be created once, and only an existing one has a lifecycle policy. */
function registry(call: string, body: string): [number, object] {
  if (broken === call) return [500, { __type: "ServerException" }];
  if (call === "GetAuthorizationToken") {
    const authorizationToken = Buffer.from("AWS:the-password").toString("base64");
    return [200, { authorizationData: [{ authorizationToken }] }];
  }
  const { repositoryName, lifecyclePolicyText, ...settings } = named.parse(JSON.parse(body));
  const known = repositories.get(repositoryName);
  if (call === "CreateRepository") {
    if (known) return [400, { __type: "RepositoryAlreadyExistsException" }];
    repositories.set(repositoryName, { settings });
    return [200, {}];
  }
  if (!known) return [400, { __type: "RepositoryNotFoundException" }];
  if (call === "DescribeImages") {
    const pushed = (days: number) => Date.now() / 1000 - days * 86_400;
    const details = [...images].map(([tag, days]) => ({ imageTags: [tag], imagePushedAt: pushed(days) }));
    return [200, { imageDetails: details }];
  }
  if (call === "BatchDeleteImage") {
    for (const { imageTag } of z.array(imageId).parse(settings.imageIds)) images.delete(imageTag);
    return [200, {}];
  }
  repositories.set(repositoryName, { ...known, lifecycle: lifecyclePolicyText ?? "" });
  return [200, {}];
}

const ecr = createServer(async (request, response) => {
  const body = await text(request);
  const { authorization = "", "x-amz-target": target, "x-amz-security-token": token } = request.headers;
  const keyId = /Credential=(\w+)\/\d{8}\/us-east-1\/ecr\/aws4_request/.exec(authorization)?.[1] ?? "";
  const call = String(target).replace("AmazonEC2ContainerRegistry_V20150921.", "");
  registryCalls.push([call, credentials.find(keyId, token?.toString())?.principalArn]);
  const [status, answer] = registry(call, body);
  response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(answer));
});

let aws: AwsServer;
let database: DynamoDb;
let stsServer: AwsServer;
let s3: Awaited<ReturnType<typeof startS3>>;
let client: S3Client;
let pinned = "";
let handler: (event: unknown) => Promise<z.infer<typeof output>>;

beforeAll(async () => {
  s3 = await startS3({
    dir,
    region: "us-east-1",
    credentials,
    buckets: [
      { name: "archives", versioned: true },
      { name: "artifacts", versioned: false },
    ],
    onObjectCreated: async () => {},
  });
  const sts = stsService({ credentials });
  aws = await startAwsServer({ json: [codeBuild, ecs], credentials });
  stsServer = await startStsServer([
    async (request) => {
      const form = new URLSearchParams(request.body.toString("utf8"));
      if (form.has("Policy")) sessionPolicies.push(JSON.parse(form.get("Policy") ?? ""));
      sessionSeconds = Number(form.get("DurationSeconds"));
      return sts(request);
    },
  ]);
  await new Promise<void>((resolve) => ecr.listen(0, "127.0.0.1", resolve));
  database = await startDynamoDb({ file: join(dir, "table.db"), tableName: "slipway" });
  const environment = {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: credentials.root.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.root.secretAccessKey,
    AWS_ENDPOINT_URL_CODEBUILD: aws.endpoint,
    AWS_ENDPOINT_URL_ECS: aws.endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: database.endpoint,
    TABLE_NAME: "slipway",
    CLUSTER_NAME: "slipway",
    AWS_ENDPOINT_URL_STS: stsServer.endpoint,
    AWS_ENDPOINT_URL_ECR: `http://127.0.0.1:${(ecr.address() as AddressInfo).port}`,
    AWS_ENDPOINT_URL_S3: s3.endpoint,
    IMAGE_BUILD_PROJECT: "Slipway-build",
    IMAGE_BUILD_ROLE: "arn:aws:iam::000000000000:role/image-builds",
    IMAGE_KEY: "arn:aws:kms:us-east-1:000000000000:key/1",
    IMAGE_REPOSITORIES: "arn:aws:ecr:us-east-1:000000000000:repository/slipway",
    BASE_IMAGES: "arn:aws:ecr:us-east-1:000000000000:repository/slipway-base",
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const options = { endpoint: s3.endpoint, region: "us-east-1", forcePathStyle: true };
  client = new S3Client({ ...options, credentials: { ...credentials.root } });
  const put = (Bucket: string, Key: string, Body: string) => client.send(new PutObjectCommand({ Bucket, Key, Body }));
  pinned = (await put("archives", key, "the pinned archive")).VersionId ?? "";
  await put("archives", key, "an archive that came later");
  await put("artifacts", `builds/${buildId}/recipe.json`, "the recipe");
  // Another test file of this process may have loaded the function, with the addresses of its own service.
  vi.resetModules();
  ({ handler } = await import("../../../lambdas/pipeline/grant-build-access.ts"));
  return async () => {
    // The next file of this process must not get the function with the addresses of these servers.
    vi.resetModules();
    client.destroy();
    ecr.close();
    await Promise.all([database.close(), aws.close(), stsServer.close(), s3.close()]);
  };
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

const started = (changes: Record<string, string> = {}) =>
  Object.entries({
    SOURCE_BUCKET: "archives",
    SOURCE_KEY: key,
    SOURCE_VERSION: pinned,
    ARTIFACT_BUCKET: "artifacts",
    ARTIFACT_PREFIX: `builds/${buildId}/`,
    IMAGE_REPOSITORY: "r",
    IMAGE_TAG: buildId,
    PROJECT_ID: projectId,
    ...changes,
  }).map(([name, value]) => ({ name, value, type: "PLAINTEXT" }));
const running = (environmentVariables = started(), rest: object = {}) => ({
  id: imageBuildId,
  projectName: "Slipway-build",
  buildStatus: "IN_PROGRESS",
  environment: { environmentVariables },
  ...rest,
});

beforeEach(() => {
  builds.clear();
  repositories.clear();
  registryCalls.length = 0;
  sessionPolicies.length = 0;
  broken = undefined;
  images.clear();
  Object.assign(ecsState, { live: null, unfinished: false, isBroken: false, reads: 0 });
});

const textAt = async (address: string) => {
  const response = await fetch(address);
  return [response.status, await response.text()];
};

it("a running image build gets exactly the version that was analyzed, and its own recipe", async () => {
  builds.set(imageBuildId, running());
  const buildAccess = output.parse(await handler({ imageBuildId }));
  expect(await textAt(buildAccess.archive)).toEqual([200, "the pinned archive"]);
  expect(await textAt(buildAccess.recipe)).toEqual([200, "the recipe"]);
  expect(buildAccess.registryPassword).toBe("the-password");
});

it("an address can only read this one object, and is valid for minutes", async () => {
  builds.set(imageBuildId, running());
  const { archive } = await handler({ imageBuildId });
  expect(Number(new URL(archive).searchParams.get("X-Amz-Expires"))).toBeLessThanOrEqual(300);
  const newest = new URL(archive);
  newest.searchParams.delete("versionId");
  expect((await fetch(newest)).status).toBe(403);
  const another = archive.replace(buildId, newId("bld", now));
  expect((await fetch(another)).status).toBe(403);
  expect((await fetch(archive, { method: "PUT", body: "mine" })).status).toBe(403);
});

it("the session behind it is limited to this build's objects and this project's repository", async () => {
  builds.set(imageBuildId, running());
  await handler({ imageBuildId });
  expect(sessionPolicies).toHaveLength(1);
  const policy = JSON.stringify(sessionPolicies[0]);
  expect(policy).toContain(`"arn:aws:ecr:us-east-1:000000000000:repository/slipway/${projectId}"`);
  expect(policy).toContain(`"arn:aws:s3:::archives/${key}"`);
  const session = "arn:aws:sts::000000000000:assumed-role/image-builds/slipway-signer";
  expect(registryCalls).toContainEqual(["GetAuthorizationToken", session]);
  expect(registryCalls.filter(([, principal]) => principal === session)).toHaveLength(1);
  // The longest session that one role may open of another; an image build takes a third of this time.
  expect(sessionSeconds).toBe(3_600);
});

it("the first build of a project creates its repository, the next one uses it", async () => {
  builds.set(imageBuildId, running());
  await handler({ imageBuildId });
  const [[name, made] = []] = repositories;
  expect(name).toBe(`slipway/${projectId}`);
  expect(made?.settings).toMatchObject({ encryptionConfiguration: { encryptionType: "KMS" } });
  expect(made?.lifecycle).toContain("untagged");
  await handler({ imageBuildId });
  expect(repositories.size).toBe(1);
});

it("a repository without its lifecycle policy gets it from the next build", async () => {
  builds.set(imageBuildId, running());
  broken = "PutLifecyclePolicy";
  await expect(handler({ imageBuildId })).rejects.toThrow("could not be given access");
  expect(repositories.get(`slipway/${projectId}`)?.lifecycle).toBeUndefined();
  broken = undefined;
  await handler({ imageBuildId });
  expect(repositories.get(`slipway/${projectId}`)?.lifecycle).toContain("untagged");
});

const [served, successful, old, older, young] = Array.from({ length: 5 }, () => newId("bld", now)) as [
  string,
  string,
  string,
  string,
  string,
];

/** A project that has been built for a while: its repository and images, and the newest successful build in the table. */
async function aged(): Promise<void> {
  builds.set(imageBuildId, running());
  repositories.set(`slipway/${projectId}`, { settings: {} });
  for (const [tag, days] of [
    [served, 400],
    [successful, 300],
    [old, 2],
    [older, 200],
    [young, 0.5],
    [buildId, 2],
    ["cache", 90],
  ] as const)
    images.set(tag, days);
  ecsState.live = liveIs(served);
  const writer = tableWriter(documentClient(), "slipway");
  await writer.write({ redeployable: RedeployableBuilds.put({ projectId }, { buildIds: [successful] }) });
}
const remaining = () => [...images.keys()].sort();

it("images that nothing needs any more are deleted: not what serves, a successful one, this build's, one of today, or the cache", async () => {
  await aged();
  await handler({ imageBuildId });
  expect(remaining()).toEqual([served, successful, young, buildId, "cache"].sort());
});

it("of an app that does not run, only the images of successful builds are kept, and without any of those none", async () => {
  await aged();
  ecsState.live = null;
  await handler({ imageBuildId });
  expect(remaining()).toEqual([successful, young, buildId, "cache"].sort());
  await aged();
  ecsState.live = null;
  await tableWriter(documentClient(), "slipway").write({ redeployable: RedeployableBuilds.delete({ projectId }) });
  await handler({ imageBuildId });
  expect(remaining()).toEqual([young, buildId, "cache"].sort());
});

it("ECS is not asked what serves while no image is old", async () => {
  await aged();
  for (const tag of [served, successful, old, older]) images.set(tag, 0.5);
  images.set(buildId, 0.1);
  await handler({ imageBuildId });
  expect([ecsState.reads, images.size]).toEqual([0, 7]);
});

const breakCall = (call: string) => () => {
  broken = call;
};

it.each<[string, () => void]>([
  ["a deployment is unfinished", () => Object.assign(ecsState, { unfinished: true })],
  ["ECS cannot be read", () => Object.assign(ecsState, { isBroken: true })],
  ["what serves is not known", () => Object.assign(ecsState, { live: liveIs("other") })],
  ["the registry cannot be read", breakCall("DescribeImages")],
  ["the registry deletes nothing", breakCall("BatchDeleteImage")],
])("no image is deleted while %s, and the build gets its access all the same", async (_, disturb) => {
  await aged();
  disturb();
  expect((await handler({ imageBuildId })).registryPassword).toBe("the-password");
  expect(images.size).toBe(7);
});

it.each<[string, () => object | undefined]>([
  ["unknown", () => undefined],
  ["over", () => running(undefined, { buildStatus: "FAILED" })],
  ["of another CodeBuild project", () => running(undefined, { projectName: "another" })],
  ["started for another project's archive", () => running(started({ PROJECT_ID: newId("prj", now) }))],
])("a build that is %s gets nothing, makes nothing, and is told nothing", async (_, reported) => {
  const build = reported();
  if (build) builds.set(imageBuildId, build);
  await expect(handler({ imageBuildId })).rejects.toThrow(/^The image build could not be given access\.$/);
  expect([registryCalls, sessionPolicies, repositories.size]).toEqual([[], [], 0]);
});

it.each([
  [{}],
  [{ imageBuildId: "Slipway-build" }],
  [{ imageBuildId: "Slipway-build:1" }],
  [{ imageBuildId: [imageBuildId] }],
  [null],
])("%o is no question", async (event) => {
  builds.set(imageBuildId, running());
  await expect(handler(event)).rejects.toThrow("could not be given access");
});

it("other fields in the caller's input are ignored", async () => {
  builds.set(imageBuildId, running());
  const asked = { imageBuildId, SOURCE_KEY: "archives/x", PROJECT_ID: newId("prj", now), projectId: "prj_x" };
  const buildAccess = await handler(asked);
  expect(await textAt(buildAccess.archive)).toEqual([200, "the pinned archive"]);
  expect([...repositories.keys()]).toEqual([`slipway/${projectId}`]);
});

it.each(["CreateRepository", "GetAuthorizationToken"])("while %s fails, the build gets no access", async (call) => {
  builds.set(imageBuildId, running());
  broken = call;
  await expect(handler({ imageBuildId })).rejects.toThrow("could not be given access");
});

it("no address and no password is logged", async () => {
  const written: string[] = [];
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((line) => written.push(String(line)) > 0);
  builds.set(imageBuildId, running());
  await handler({ imageBuildId });
  broken = "PutLifecyclePolicy";
  await handler({ imageBuildId }).catch(() => undefined);
  broken = "DescribeImages";
  await handler({ imageBuildId });
  spy.mockRestore();
  expect(written.join("")).toContain("grant-build-access failed");
  expect(written.join("")).toContain(`"Old images could not be deleted","projectId":"${projectId}"`);
  expect(written.join("")).not.toMatch(/X-Amz|the-password|http:/);
});

it("without a version the newest archive is read, so the analyzed one is given only because its version is named", async () => {
  const object = await client.send(new GetObjectCommand({ Bucket: "archives", Key: key }));
  expect(await object.Body?.transformToString()).toBe("an archive that came later");
});
