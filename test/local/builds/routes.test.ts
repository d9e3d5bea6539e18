import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { noSettings } from "../../../api/stored-settings.ts";
import { liveBuild } from "../../../lambdas/builds/model/live-build.ts";
import {
  Addresses,
  Build,
  type BuildRow,
  LiveBuildCache,
  Lock,
  RedeployableBuilds,
} from "../../../lambdas/builds/model/rows.ts";
import { newBuild } from "../../../lambdas/builds/model/transitions.ts";
import { sealCursor } from "../../../lambdas/http/cursor.ts";
import { AccessKey, Membership, Token } from "../../../lambdas/http/model/credentials.ts";
import { Project } from "../../../lambdas/http/model/project.ts";
import { newKeyPair, newToken, secretHash } from "../../../lambdas/http/presented-credential.ts";
import { newId } from "../../../lambdas/table/ids.ts";
import type { AwsServer } from "../../../local/aws/http-server.ts";
import { AwsError, jsonError, type RawService } from "../../../local/aws/service.ts";
import { startStsServer, stsService } from "../../../local/sts/server.ts";
import { openCredentials } from "../../../local/sts/store.ts";
import { bearer, type Handler, invoke } from "../../harness/handlers.ts";
import { startTable } from "../../harness/table.ts";

const now = new Date();
const at = now.toISOString();
const ahead = new Date(now.getTime() + 3_600_000).toISOString();
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const ids = [
  "create-build",
  "cancel-build",
  "get-build",
  "list-builds",
  "list-endpoints",
  "rebuild",
  "redeploy-build",
  "list-build-logs",
  "list-app-logs",
  "get-metrics",
] as const;
type Id = (typeof ids)[number];

let started: Awaited<ReturnType<typeof startTable>>;
let table: typeof started.table;
let handlers: Record<Id, Handler>;
let server: AwsServer;
const home = mkdtempSync(join(tmpdir(), "builds-"));

/** What AWS holds, beside STS: each call without an answer here is refused. */
interface Aws {
  /** The task definition that serves every project; null if nothing does. */
  live: string | null | "refused";
  /** The address of the apps at the ECS gateway. */
  address: string | undefined;
  /** The sizes of archives by key and version. */
  archives: Record<string, number>;
  /** The lines by log group and stream. */
  streams: Record<string, string[]>;
  /** Whether CloudWatch gives a page without lines between two with lines. */
  hasEmptyPages: boolean;
  /** What apps wrote, oldest first. */
  output: { logStreamName: string; timestamp: number; message: string }[];
  refusesStarts: boolean;
  refusesRoles: boolean;
  /** The values of the variables that builds were made with, by project and build. */
  values: Record<string, string[]>;
  /** What CloudWatch has measured in the present minute, by the name of the metric. */
  measured: Record<string, number>;
  /** The tasks that ended a minute ago, with their task definitions. */
  ended: { stopCode: string; taskDefinitionArn: string }[];
  started: object[];
  /** The names of the calls. */
  called: string[];
}
let aws: Aws;
beforeEach(() => {
  aws = {
    live: null,
    address: undefined,
    archives: {},
    streams: {},
    hasEmptyPages: false,
    output: [],
    refusesStarts: false,
    refusesRoles: false,
    values: {},
    measured: {},
    ended: [],
    started: [],
    called: [],
  };
});

afterEach(() => {
  vi.useRealTimers();
});

const linesAtOnce = 2;
interface LogQuery {
  logGroupName: string;
  logStreamName: string;
  limit: number;
  nextToken?: string;
}
/** CloudWatch's pages of a stream; it gives the same token again at the end, and nowhere else. */
function logPage({ logGroupName, logStreamName, limit, nextToken }: LogQuery) {
  const lines = aws.streams[`${logGroupName} ${logStreamName}`];
  if (!lines) return undefined;
  const from = Number(nextToken?.slice(2) ?? 0);
  if (aws.hasEmptyPages && !nextToken?.startsWith("e") && from < lines.length)
    return { events: [], nextForwardToken: `e:${from}` };
  const page = lines.slice(from, from + Math.min(limit, linesAtOnce));
  const events = page.map((message, n) => ({ timestamp: now.getTime() + from + n, message: `${message}\n` }));
  return { events, nextForwardToken: `f:${from + page.length}` };
}

interface Filter {
  logStreamNamePrefix: string;
  startTime: number;
  endTime: number;
  startFromHead: boolean;
  limit: number;
}
/** CloudWatch's lines of a time that includes both ends. */
function filtered({ logStreamNamePrefix, startTime, endTime, startFromHead, limit }: Filter) {
  const events = aws.output.filter(
    ({ logStreamName, timestamp }) =>
      logStreamName.startsWith(logStreamNamePrefix) && timestamp >= startTime && timestamp <= endTime,
  );
  return { events: (startFromHead ? events : events.toReversed()).slice(0, limit) };
}

interface MetricStat {
  Metric: { MetricName: string };
}

// biome-ignore lint/suspicious/noExplicitAny: the inputs are those of the AWS SDK
const calls: Record<string, (input: any) => object | undefined> = {
  DescribeServices: () => {
    if (aws.live === "refused") return undefined;
    const service = { status: "ACTIVE", desiredCount: 1, taskDefinition: aws.live };
    return { services: aws.live === null ? [] : [service], failures: aws.live === null ? [{ reason: "MISSING" }] : [] };
  },
  ListGatewayRoutes: () => ({ gatewayRoutes: aws.address === undefined ? [] : [{ gatewayRouteArn: "route" }] }),
  DescribeGatewayRoute: () => ({ gatewayRoute: { serviceUrl: aws.address } }),
  ListTasks: ({ desiredStatus }) => ({
    taskArns: desiredStatus === "STOPPED" ? aws.ended.map((_, n) => `task/${n}`) : [],
  }),
  DescribeTasks: () => ({ tasks: aws.ended.map((task) => ({ ...task, stoppedAt: ago(60).getTime() / 1000 })) }),
  GetMetricData: ({ MetricDataQueries }) => ({
    MetricDataResults: MetricDataQueries.map(({ Id, MetricStat }: { Id: string; MetricStat: MetricStat }) => {
      const value = aws.measured[MetricStat.Metric.MetricName];
      const at = Math.floor(now.getTime() / 60_000) * 60;
      return { Id, Timestamps: value === undefined ? [] : [at], Values: value === undefined ? [] : [value] };
    }),
  }),
  GetLogEvents: logPage,
  FilterLogEvents: filtered,
  StartExecution: ({ name, input }) => {
    if (aws.refusesStarts) return undefined;
    aws.started.push({ name, ...JSON.parse(input) });
    return { executionArn: "execution", startDate: 0 };
  },
};

const service: RawService = async ({ method, path, query, headers, body }) => {
  const target = String(headers["x-amz-target"] ?? "").split(".")[1];
  if (target) {
    aws.called.push(target);
    const input = JSON.parse(body.toString());
    const answer = calls[target]?.(input);
    const isUnknownStream = target === "GetLogEvents" && typeof input.logStreamName === "string";
    return answer
      ? { status: 200, body: JSON.stringify(answer) }
      : jsonError(new AwsError(isUnknownStream ? "ResourceNotFoundException" : "AccessDeniedException", "refused"));
  }
  if (path === "/")
    return aws.refusesRoles
      ? {
          status: 403,
          headers: { "content-type": "text/xml" },
          body: "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>",
        }
      : undefined;
  const values = aws.values[path.replace(/^\/artifacts\/values\/(.*)\.json$/, "$1")];
  if (values) return { status: 200, body: JSON.stringify(values) };
  const size = aws.archives[`${decodeURIComponent(path).replace("/archives/", "")}?${query.get("versionId")}`];
  if (method !== "HEAD" || size === undefined)
    return {
      status: 404,
      headers: { "content-type": "application/xml" },
      body: method === "HEAD" ? "" : "<Error><Code>NoSuchKey</Code></Error>",
    };
  return { status: 200, headers: { "content-length": String(size), "x-amz-version-id": query.get("versionId") ?? "" } };
};

beforeAll(async () => {
  started = await startTable();
  table = started.table;
  const credentials = openCredentials({ dir: home });
  server = await startStsServer([service, stsService({ credentials })]);
  const environment = {
    TABLE_NAME: "rows",
    CLUSTER_NAME: "apps",
    ARCHIVES_BUCKET: "archives",
    ARCHIVES_SIGNER_ROLE: "arn:aws:iam::000000000000:role/archives-signer",
    ARTIFACTS_BUCKET: "artifacts",
    STATE_MACHINE_ARN: "arn:aws:states:us-east-1:000000000000:stateMachine:deployment",
    APP_LOG_GROUP: "apps",
    BUILD_LOG_GROUP: "builds",
    OUTPUT_SETTLE_MS: "0",
    AWS_ACCESS_KEY_ID: credentials.root.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.root.secretAccessKey,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  for (const name of ["STS", "ECS", "S3", "SFN", "CLOUDWATCH_LOGS", "CLOUDWATCH"])
    vi.stubEnv(`AWS_ENDPOINT_URL_${name}`, server.endpoint);
  // Another test file of this process may have loaded the functions, with the addresses of its own service.
  vi.resetModules();
  const loaded = await Promise.all(
    ids.map(async (id) => [id, (await import(`../../../lambdas/builds/${id}.ts`)).handler]),
  );
  handlers = Object.fromEntries(loaded);
});
afterAll(async () => {
  // The next file of this process must not get the functions with the address of this table.
  vi.resetModules();
  await server.close();
  await started.close();
  rmSync(home, { recursive: true });
});

/** A project, and calls of its routes with a key of its organization. */
async function newProject() {
  const [orgId, projectId] = [newId("org", now), newId("prj", now)];
  const { access, secret } = newKeyPair(orgId);
  const key = { access, hash: secretHash(secret), organizationId: orgId, projectId, credentialId: 1, manual: false };
  await table.write({
    project: Project.put(
      { id: projectId },
      { id: projectId, organizationId: orgId, name: "App", secret: "x", createdAt: at },
    ),
    key: AccessKey.put({ access }, { ...key, description: "", createdAt: at }),
  });
  const owner = { organizationId: orgId, projectId };
  /** A stored build, which holds no lock unless it is asked for. */
  async function build(change: Partial<BuildRow> = {}, { isLocked = false, created = now } = {}) {
    const id = newId("bld", created);
    const { writes } = newBuild({ id, ...owner, title: "One", description: null, source: { kind: "upload" } }, created);
    expect(await table.write(isLocked ? writes : { build: writes.build })).toEqual({ ok: true });
    if (Object.keys(change).length > 0) await table.write({ build: Build.update({ projectId, id }, { set: change }) });
    return id;
  }
  return {
    orgId,
    projectId,
    build,
    call: (
      id: Id,
      { buildId, body, headers, query }: { buildId?: string; body?: object; headers?: object; query?: object } = {},
    ) =>
      invoke(handlers[id], {
        path: `/${projectId}/${id}/${buildId}`,
        params: { orgId, projectId, buildId },
        headers: { ...bearer(`${access}:${secret}`), ...headers },
        ...(query && { query }),
        ...(body && { text: JSON.stringify(body) }),
      }),
    rows: (buildId: string) =>
      table.read({
        build: Build.at({ projectId, id: buildId }),
        lock: Lock.at({ projectId }),
        live: LiveBuildCache.at({ projectId }),
      }),
    /** What ECS was last seen to serve: a moment ago, however slow this machine is. */
    serves: (buildId: string | null, readAt = ahead) =>
      table.write({ live: LiveBuildCache.put({ projectId }, { buildId, readAt }) }),
    succeeded: (buildIds: string[]) => table.write({ all: RedeployableBuilds.put({ projectId }, { buildIds }) }),
  };
}
/** The headers of a member whose token may only read. */
async function reader({ orgId }: { orgId: string }) {
  const [userId, id] = [newId("usr", now), newId("tok", now)];
  const token = newToken(userId, id);
  await table.write({
    token: Token.put(
      { userId, id },
      { id, userId, hash: secretHash(token), description: "", createdAt: at, access: "read" },
    ),
    membership: Membership.put(
      { userId, organizationId: orgId },
      { userId, organizationId: orgId, organizationName: "One", role: "member" },
    ),
  });
  return bearer(token);
}
const definitionOf = (buildId: string) => `arn:aws:ecs:us-east-1:000000000000:task-definition/slipway-${buildId}:1`;

describe("create-build", () => {
  test("stores a pending build, starts it, and answers the address of its archive", async () => {
    const { orgId, projectId, call, rows } = await newProject();
    const { status, body } = await call("create-build", { body: { title: " One ", description: "" } });
    expect(status).toBe(201);
    const { build, url } = body;
    expect(build.id).toMatch(/^bld_/);
    expect(build).toMatchObject({ title: "One", description: null, status: "pending", runtime: null, size: null });
    const address = new URL(url);
    expect(address.pathname).toBe(`/archives/archives/${orgId}/${projectId}/${build.id}.zip`);
    expect(address.searchParams.get("X-Amz-Expires")).toBe("3600");
    expect((await rows(build.id)).lock).toMatchObject({ buildId: build.id, source: "upload" });
    expect(aws.started).toEqual([
      { name: build.id, organizationId: orgId, projectId, buildId: build.id, source: "upload" },
    ]);
  });

  test("is a 409 that names the running build, also when no address can be signed", async () => {
    const { build, call } = await newProject();
    const id = await build({}, { isLocked: true });
    const conflict = {
      status: 409,
      body: {
        status: "Conflict",
        code: "build_in_progress",
        message: "A build is already in progress for this project. Poll it and retry when it is done.",
        build: { id, status: "pending", createdAt: at },
      },
    };
    expect(await call("create-build")).toMatchObject(conflict);
    aws.refusesRoles = true;
    expect(await call("create-build")).toMatchObject(conflict);
    expect(aws.started).toEqual([]);
  });

  test("stores nothing if no address can be signed", async () => {
    const { projectId, call } = await newProject();
    aws.refusesRoles = true;
    expect((await call("create-build")).status).toBe(500);
    expect((await table.read({ lock: Lock.at({ projectId }) })).lock).toBeUndefined();
  });

  test("is answered when its execution could not be started, which happens later", async () => {
    const { call, rows } = await newProject();
    aws.refusesStarts = true;
    const { status, body } = await call("create-build");
    expect(status).toBe(201);
    expect((await rows(body.build.id)).lock).toBeDefined();
  });

  test("that is repeated with its Idempotency-Key answers the same build and an address for its archive", async () => {
    const { orgId, projectId, call } = await newProject();
    const headers = { "idempotency-key": "once" };
    const first = await call("create-build", { headers });
    const second = await call("create-build", { headers });
    expect([second.status, second.body.build]).toEqual([201, first.body.build]);
    expect(new URL(second.body.url).pathname).toBe(
      `/archives/archives/${orgId}/${projectId}/${first.body.build.id}.zip`,
    );
    expect(aws.started).toHaveLength(1);
  });
});

describe("cancel-build", () => {
  test.each(["pending", "analyzing", "building"] as const)(
    "marks a build that is %s and frees the project",
    async (status) => {
      const { build, call, rows } = await newProject();
      const buildId = await build({ status, uploadToken: "token" }, { isLocked: true });
      const { status: code, body } = await call("cancel-build", { buildId });
      expect([code, body.build]).toEqual([200, expect.objectContaining({ id: buildId, status, title: "One" })]);
      const { build: row, lock } = await rows(buildId);
      expect(row).toMatchObject({ status, canceledAt: body.build.canceledAt, updatedAt: body.build.canceledAt });
      expect(body.build.updatedAt).toBe(body.build.canceledAt);
      expect([row?.uploadToken, lock]).toEqual([undefined, undefined]);
      // Once more changes nothing.
      expect(await call("cancel-build", { buildId })).toMatchObject({ status: 200, body });
    },
  );

  test("leaves the lock of another build alone", async () => {
    const { projectId, build, call, rows } = await newProject();
    const buildId = await build({ status: "building" }, { isLocked: true });
    await table.write({ lock: Lock.update({ projectId }, { set: { buildId: "bld_other" } }) });
    expect((await call("cancel-build", { buildId })).status).toBe(200);
    const { build: row, lock } = await rows(buildId);
    expect([row?.canceledAt, lock?.buildId]).toEqual([expect.any(String), "bld_other"]);
  });

  test.each([
    ["deploying", "build_deploying", "The build is being deployed and checked; it can no longer be canceled."],
    ["ready", "build_finished", "The build is finished and cannot be canceled."],
    ["error", "build_finished", "The build is finished and cannot be canceled."],
  ] as const)("is a 409 for a build that is %s", async (status, code, message) => {
    const { build, call, rows } = await newProject();
    const buildId = await build({ status }, { isLocked: true });
    expect(await call("cancel-build", { buildId })).toMatchObject({ status: 409, body: { code, message } });
    expect(await rows(buildId)).toMatchObject({ build: { status }, lock: { buildId } });
  });

  test("is a 404 for a build of another project", async () => {
    const [own, other] = [await newProject(), await newProject()];
    const buildId = await other.build({}, { isLocked: true });
    expect(await own.call("cancel-build", { buildId })).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect((await other.rows(buildId)).lock).toBeDefined();
  });
});

test.each(["cancel-build", "redeploy-build"] as const)(
  "%s is a 404 for a build that does not exist before it is a 403 for a token that may only read",
  async (id) => {
    const project = await newProject();
    const headers = await reader(project);
    const buildId = await project.build();
    expect(await project.call(id, { buildId, headers })).toMatchObject({ status: 403, body: { code: "token_scope" } });
    const missing = { buildId: newId("bld", now), headers };
    expect(await project.call(id, missing)).toMatchObject({ status: 404, body: { code: "not_found" } });
  },
);

describe("get-build", () => {
  test.each([
    [0, "1"],
    [20, "2"],
    [100, "5"],
    [1_000, "15"],
  ])("of a running build %i seconds old says to poll again after %s seconds", async (seconds, after) => {
    vi.useFakeTimers({ toFake: ["Date"], now });
    const { build, call, serves } = await newProject();
    const buildId = await build({ status: "deploying" }, { created: ago(seconds) });
    await serves(buildId);
    const { status, headers, body } = await call("get-build", { buildId });
    expect([status, headers["retry-after"], body.build.isLive]).toEqual([200, after, false]);
  });

  test.each(["ready", "error"] as const)(
    "of a build that is %s says whether it serves, as ECS does",
    async (status) => {
      const { build, call } = await newProject();
      const buildId = await build({ status, warning: "GET / answers 404" });
      const read = async () => (await call("get-build", { buildId })).body.build;
      expect(await read()).toMatchObject({ status, isLive: false, warning: "GET / answers 404", canceledAt: null });
      const other = await newProject();
      const served = await other.build({ status });
      aws.live = definitionOf(served);
      const { headers, body } = await other.call("get-build", { buildId: served });
      expect([body.build.isLive, headers["retry-after"]]).toEqual([true, undefined]);
    },
  );

  test("of a canceled build is its last read, and never live", async () => {
    const { build, call } = await newProject();
    const buildId = await build({ status: "building", canceledAt: at });
    const { headers, body } = await call("get-build", { buildId });
    expect(headers["retry-after"]).toBeUndefined();
    expect(body.build).toMatchObject({ status: "building", canceledAt: at, isLive: false });
    expect(aws.called).toEqual([]);
  });

  test("says that the live app keeps crashing, and nothing of the kind of another build", async () => {
    const { projectId, build, call } = await newProject();
    const [live, other] = [await build({ status: "ready" }), await build({ status: "ready" })];
    const crashes = { buildId: live, readAt: ahead, message: "The app keeps crashing" };
    await table.write({ live: LiveBuildCache.put({ projectId }, { buildId: live, readAt: ahead, crashes }) });
    const warning = async (buildId: string) => (await call("get-build", { buildId })).body.build.warning;
    expect([await warning(live), await warning(other)]).toEqual(["The app keeps crashing", null]);
    // Crashes are looked for only where the build serves: ECS allows few such calls.
    expect(aws.called).toEqual([]);
    await table.write({ live: LiveBuildCache.put({ projectId }, { buildId: live, readAt: ahead }) });
    expect([await warning(live), aws.called]).toEqual([null, ["ListTasks"]]);
  });

  test("is a 404 for a build that does not exist", async () => {
    const { call } = await newProject();
    expect((await call("get-build", { buildId: newId("bld", now) })).status).toBe(404);
  });
});

describe("list-builds", () => {
  test("gives the newest first, in pages, and only to its own cursor", async () => {
    const { projectId, build, call } = await newProject();
    const made: string[] = [];
    for (const seconds of [30, 20, 10]) made.unshift(await build({}, { created: ago(seconds) }));
    const first = (await call("list-builds", { query: { limit: "1" } })).body;
    expect(first.builds.map(({ id }: BuildRow) => id)).toEqual(made.slice(0, 1));
    const second = (await call("list-builds", { query: { limit: "2", cursor: first.nextCursor } })).body;
    expect(second.builds.map(({ id }: BuildRow) => id)).toEqual(made.slice(1));
    expect(second.nextCursor).toBeNull();
    expect((await call("list-builds", { query: { limit: "3" } })).body.nextCursor).toBeNull();
    const another = await newProject();
    for (const seconds of [20, 10]) await another.build({}, { created: ago(seconds) });
    const { nextCursor: ofAnother } = (await another.call("list-builds", { query: { limit: "1" } })).body;
    const ofNoBuild = sealCursor("x", `builds:${projectId}`, "zzz");
    for (const cursor of ["", "x", ofAnother, ofNoBuild, sealCursor("y", `builds:${projectId}`, made[0] ?? "")]) {
      expect(await call("list-builds", { query: { cursor } })).toMatchObject({
        status: 400,
        body: { code: "invalid_request", issues: [{ path: "cursor" }] },
      });
    }
    const wrong = (await call("list-builds", { query: { cursor: "x" } })).body;
    expect(wrong.issues).toEqual([{ path: "cursor", message: "must be a cursor that this list returned" }]);
    expect((await call("list-builds")).body.builds).toHaveLength(3);
  });

  test("is empty for a project without builds", async () => {
    const { call } = await newProject();
    expect((await call("list-builds")).body).toEqual({
      builds: [],
      nextCursor: null,
      redeployAvailability: { status: "available" },
    });
  });

  test("marks what serves and what can be redeployed", async () => {
    const { build, call, serves, succeeded } = await newProject();
    const [older, live] = [await build({ status: "ready" }, { created: ago(20) }), await build({ status: "ready" })];
    await succeeded([live, older]);
    aws.live = definitionOf(live);
    const { builds, redeployAvailability } = (await call("list-builds")).body;
    expect(builds).toMatchObject([
      { id: live, isLive: true, canRedeploy: false, redeployBlockedBy: "live" },
      { id: older, isLive: false, canRedeploy: true, redeployBlockedBy: null },
    ]);
    expect(redeployAvailability).toEqual({ status: "available" });
    await serves(older);
    const [, seen] = (await call("list-builds")).body.builds;
    expect(seen).toMatchObject({ id: older, isLive: true });
  });

  test("says when to come again if what serves cannot be read", async () => {
    const { build, call, succeeded } = await newProject();
    const id = await build({ status: "ready" });
    await succeeded([id]);
    aws.live = "refused";
    const { builds, redeployAvailability } = (await call("list-builds")).body;
    expect(builds).toMatchObject([{ id, isLive: false, canRedeploy: false, redeployBlockedBy: null }]);
    expect(redeployAvailability).toEqual({ status: "temporarily_unavailable", retryAfter: 5 });
  });
});

describe("what serves", () => {
  test("is not recorded over what another request has read since", async () => {
    const { projectId, rows, serves } = await newProject();
    const [before, after] = [newId("bld", now), newId("bld", now)];
    const live = async () => {
      await serves(after);
      return definitionOf(before);
    };
    const updateBestEffort = vi.fn(table.updateBestEffort);
    const liveCache = { ...table, updateBestEffort: updateBestEffort as typeof table.updateBestEffort };
    expect(await liveBuild(undefined, projectId, { apps: { live }, liveCache })).toEqual({ buildId: before });
    await Promise.allSettled(updateBestEffort.mock.results.map(({ value }) => value as Promise<unknown>));
    expect((await rows(before)).live?.buildId).toBe(after);
  });

  test("is read from ECS once in five seconds", async () => {
    const { build, call, rows, serves } = await newProject();
    const [first, second] = [await build({ status: "ready" }), await build({ status: "ready" })];
    const isLive = async (buildId: string) => (await call("get-build", { buildId })).body.build.isLive;
    aws.live = definitionOf(first);
    expect(await isLive(first)).toBe(true);
    await expect
      .poll(async () => (await rows(first)).live)
      .toMatchObject({ buildId: first, readAt: expect.any(String) });
    aws.live = definitionOf(second);
    vi.useFakeTimers({ toFake: ["Date"], now });
    await serves(first, new Date(now.getTime() - 4_999).toISOString());
    expect(await isLive(first)).toBe(true);
    await serves(first, new Date(now.getTime() - 5_000).toISOString());
    expect(await isLive(first)).toBe(false);
    await expect.poll(async () => (await rows(first)).live?.buildId).toBe(second);
  });
});

describe("list-endpoints", () => {
  test("gives the gateway's address and the active domains", async () => {
    const { projectId, call } = await newProject();
    const endpoints = async () => (await call("list-endpoints")).body.endpoints;
    expect(await endpoints()).toEqual([]);
    aws.address = "https://app.example.com";
    expect(await endpoints()).toEqual(["https://app.example.com"]);
    const domains = { "b.example.com": "active", "a.example.com": "active", "c.example.com": "pending" } as const;
    await table.write({ all: Addresses.put({ projectId }, { url: "https://stored.example.com", domains }) });
    expect(await endpoints()).toEqual(["https://stored.example.com", "https://a.example.com", "https://b.example.com"]);
  });
});

describe.each(["rebuild", "redeploy-build"] as const)("%s", (id) => {
  const archive = { key: "archives/one.zip", version: "v1" };
  const ready = { status: "ready", archive, description: "The first" } as const;

  /** A project whose build can be copied: it serves, or for a redeploy another one does. */
  async function copyable(change: Partial<BuildRow> = ready) {
    const project = await newProject();
    const buildId = await project.build(change, { created: ago(60) });
    const live = id === "rebuild" ? buildId : await project.build(ready, { created: ago(30) });
    await project.serves(live);
    await project.succeeded([live, buildId]);
    aws.archives[`${archive.key}?${archive.version}`] = 7;
    return { ...project, buildId, live, send: (more: object = {}) => project.call(id, { buildId, ...more }) };
  }

  test("starts a new build on the same archive, with its title and description", async () => {
    const { orgId, projectId, buildId, send, rows } = await copyable();
    const { status, body } = await send();
    expect(status).toBe(201);
    expect(body.build.id).toMatch(/^bld_/);
    expect(body.build).toMatchObject({ status: "pending", title: "One", description: "The first", size: null });
    const { build, lock } = await rows(body.build.id);
    expect(build?.source).toEqual({ kind: "copy", buildId, ...archive, size: 7 });
    expect(lock).toMatchObject({ buildId: body.build.id, source: "copy" });
    expect(aws.started).toEqual([
      { name: body.build.id, organizationId: orgId, projectId, buildId: body.build.id, source: "copy" },
    ]);
    expect(await send()).toMatchObject({
      status: 409,
      body: { code: "build_in_progress", build: { id: body.build.id } },
    });
  });

  test("names the running build before it looks at what serves and at archives", async () => {
    const { projectId, send } = await copyable();
    const running = newId("bld", now);
    const { writes } = newBuild(
      { id: running, projectId, organizationId: "org", title: null, description: null, source: { kind: "upload" } },
      now,
    );
    await table.write({ lock: writes.lock });
    aws.archives = {};
    expect(await send()).toMatchObject({ status: 409, body: { code: "build_in_progress", build: { id: running } } });
  });

  test("that is repeated with its Idempotency-Key answers the same build", async () => {
    const { send } = await copyable();
    const headers = { "idempotency-key": "once" };
    const first = await send({ headers });
    expect(await send({ headers })).toMatchObject({ status: 201, body: first.body });
    expect(aws.started).toHaveLength(1);
  });

  test.each([
    ["its archive is gone", ready],
    ["it has no archive", { status: "ready" } as const],
  ])("is a 410 if %s", async (_, change) => {
    const { send } = await copyable(change);
    aws.archives = {};
    const message =
      id === "rebuild"
        ? "The source archive of the deployed build is gone. Upload the source as a new build."
        : "The source archive of this build is gone. Choose another build.";
    expect(await send()).toMatchObject({ status: 410, body: { code: "source_gone", message } });
  });

  test("is a 503 if what serves cannot be read", async () => {
    const { send, serves, live } = await copyable();
    await serves(live, ago(60).toISOString());
    aws.live = "refused";
    expect(await send()).toMatchObject({
      status: 503,
      headers: { "retry-after": "5" },
      body: {
        code: "live_unknown",
        message: "What is deployed could not be determined. This is temporary; please retry.",
      },
    });
  });
});

describe("rebuild", () => {
  test("is a 409 where nothing was deployed, or what serves did not finish successfully", async () => {
    const { build, call, serves } = await newProject();
    expect(await call("rebuild")).toMatchObject({
      status: 409,
      body: {
        code: "never_deployed",
        message: "The project has no successful deployment to rebuild. Create a build first.",
      },
    });
    await serves(await build({ status: "error" }));
    expect(await call("rebuild")).toMatchObject({
      status: 409,
      body: {
        code: "deployed_build_not_successful",
        message: "The deployed build did not finish successfully. Create a new build.",
      },
    });
    await serves(newId("bld", now));
    expect(await call("rebuild")).toMatchObject({ status: 409, body: { code: "never_deployed" } });
  });
});

describe("redeploy-build", () => {
  test.each([
    [
      "a canceled build",
      { status: "ready", canceledAt: at },
      "build_canceled",
      "The build was canceled and cannot be redeployed.",
    ],
    [
      "a build that failed",
      { status: "error" },
      "build_not_successful",
      "The build did not finish successfully and cannot be redeployed.",
    ],
  ] as const)("is a 409 for %s, whatever serves", async (_, change, code, message) => {
    const { build, call } = await newProject();
    const buildId = await build(change);
    aws.live = "refused";
    expect(await call("redeploy-build", { buildId })).toMatchObject({ status: 409, body: { code, message } });
  });

  test("is a 409 for the build that serves, and for one before the ten most recent", async () => {
    const { build, call, serves, succeeded } = await newProject();
    const [oldest, live] = [await build({ status: "ready" }), await build({ status: "ready" })];
    await serves(live);
    await succeeded([live, ...Array.from({ length: 10 }, () => newId("bld", now)), oldest]);
    expect(await call("redeploy-build", { buildId: live })).toMatchObject({
      status: 409,
      body: {
        code: "build_already_live",
        message: "The build is already deployed. To apply changed variables, rebuild.",
      },
    });
    expect(await call("redeploy-build", { buildId: oldest })).toMatchObject({
      status: 409,
      body: {
        code: "build_outside_window",
        message: "Only the 10 most recent successful builds can be redeployed.",
      },
    });
  });

  test("is a 404 for a build of another project, and a 409 without any success", async () => {
    const [own, other] = [await newProject(), await newProject()];
    const foreign = await other.build({ status: "ready" });
    expect((await own.call("redeploy-build", { buildId: foreign })).status).toBe(404);
    const buildId = await own.build({ status: "ready" });
    expect(await own.call("redeploy-build", { buildId })).toMatchObject({
      status: 409,
      body: { code: "build_outside_window" },
    });
  });
});

describe("list-build-logs", () => {
  const streams = { buildLog: "build", releaseLog: "release", appLog: "app" };
  const lines = { build: ["b1", "b2", "b3", "b4"], release: ["r1"], app: ["a1", "a2"] };
  const written = { "builds build": lines.build, "apps release": lines.release, "apps app": lines.app };
  const note =
    "Waiting for the project's earlier deployment: its old version is finishing its open requests. This one starts then.";
  const shown = (page: { lines: { stage: string; text: string }[] }) =>
    page.lines.map(({ stage, text }) => `${stage} ${text}`);

  const all = [
    "building b1",
    "building b2",
    "building b3",
    "building b4",
    "releasing r1",
    `deploying ${note}`,
    "deploying a1",
    "deploying a2",
  ];

  test.each([1, 2, 3, 4, 8])("gives the lines of every stage in order, in pages of %i", async (limit) => {
    const { build, call } = await newProject();
    const buildId = await build({ status: "ready", ...streams, waitedAt: at });
    aws.streams = written;
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const query = { limit: String(limit), ...(cursor && { cursor }) };
      const { body } = await call("list-build-logs", { buildId, query });
      expect(body.lines.length).toBeLessThanOrEqual(limit);
      seen.push(...shown(body));
      cursor = body.nextCursor;
    } while (cursor);
    expect(seen).toEqual(all);
  });

  test("goes on after a page without lines, which is not the end of a stream", async () => {
    const { build, call } = await newProject();
    const buildId = await build({ status: "ready", ...streams, waitedAt: at });
    aws.streams = written;
    aws.hasEmptyPages = true;
    expect(shown((await call("list-build-logs", { buildId })).body)).toEqual(all);
  });

  test("gives all lines that fit, with their times, and asks CloudWatch for no more than fit", async () => {
    const { build, call } = await newProject();
    const buildId = await build({ status: "ready", ...streams, waitedAt: at });
    aws.streams = written;
    const whole = (await call("list-build-logs", { buildId })).body;
    expect(shown(whole)).toEqual(all);
    expect(whole.nextCursor).toBeNull();
    expect(whole.lines[0].at).toBe(at);
    expect(whole.lines[5]).toEqual({ at, stage: "deploying", text: note });
    const { lines: three } = (await call("list-build-logs", { buildId, query: { limit: "3" } })).body;
    expect(three.map(({ text }: { text: string }) => text)).toEqual(["b1", "b2", "b3"]);
  });

  test("has no lines of a stage that has not begun, and goes on after one whose stream is gone", async () => {
    const { build, call } = await newProject();
    const empty = { lines: [], nextCursor: null };
    expect((await call("list-build-logs", { buildId: await build() })).body).toEqual(empty);
    const buildId = await build({ status: "ready", appLog: "app", releaseLog: "gone", buildLog: "empty" });
    aws.streams = { "apps app": lines.app, "builds empty": [] };
    expect(shown((await call("list-build-logs", { buildId })).body)).toEqual(["deploying a1", "deploying a2"]);
  });

  test("masks the values that the build was made with", async () => {
    const { projectId, build, call } = await newProject();
    const buildId = await build({ status: "ready", buildLog: "build" });
    aws.values[`${projectId}/${buildId}`] = ["correct horse"];
    aws.streams = { "builds build": ["the correct horse"] };
    const page = (await call("list-build-logs", { buildId })).body;
    expect(page.lines).toHaveLength(1);
    expect(JSON.stringify(page)).not.toContain("correct horse");
  });

  test("takes only a cursor that the build's list gave out", async () => {
    const { build, call } = await newProject();
    const [buildId, other] = [
      await build({ status: "ready", ...streams }),
      await build({ status: "ready", ...streams }),
    ];
    aws.streams = written;
    const { nextCursor } = (await call("list-build-logs", { buildId, query: { limit: "1" } })).body;
    for (const [of, cursor] of [
      [other, nextCursor],
      [buildId, `${nextCursor}x`],
      [buildId, "x"],
    ]) {
      expect(await call("list-build-logs", { buildId: of, query: { cursor } })).toMatchObject({
        status: 400,
        body: { issues: [{ path: "cursor", message: "must be a cursor that this list returned" }] },
      });
    }
  });

  test("is a 404 for a build of another project", async () => {
    const [own, other] = [await newProject(), await newProject()];
    const buildId = await other.build();
    expect((await own.call("list-build-logs", { buildId })).status).toBe(404);
    expect((await own.call("list-build-logs", { buildId, query: { limit: "0" } })).status).toBe(404);
  });
});

describe("list-app-logs", () => {
  /** A project with two builds, each of which has written three lines in six seconds. */
  async function written() {
    vi.useFakeTimers({ toFake: ["Date"], now });
    const project = await newProject();
    const [first, second] = [await project.build({ status: "ready" }), await project.build({ status: "ready" })];
    const say = (buildId: string, secondsAgo: number, message: string) =>
      aws.output.push({
        logStreamName: `${project.projectId}/${buildId}/app/task-${message}`,
        timestamp: now.getTime() - secondsAgo * 1000,
        message,
      });
    for (const [n, word] of ["one", "two", "three"].entries()) say(first, 60 - n, word);
    for (const [n, word] of ["Four", "five", "six"].entries()) say(second, 57 - n, word);
    const read = async (query: Record<string, string>) => (await project.call("list-app-logs", { query })).body;
    return { ...project, first, second, say, read };
  }
  const texts = (page: { lines: { text: string }[] }) => page.lines.map(({ text }) => text);

  test("gives the newest lines first, in order within a page, and leads back to the oldest", async () => {
    const { second, read } = await written();
    const pages = [await read({ limit: "4" })];
    pages.push(await read({ limit: "4", cursor: pages[0].nextCursor }));
    expect(pages.map(texts)).toEqual([
      ["three", "Four", "five", "six"],
      ["one", "two"],
    ]);
    expect(pages[1].nextCursor).toBeNull();
    expect(pages[0].lines[3]).toEqual({
      at: ago(55).toISOString(),
      buildId: second,
      instance: "task-six",
      text: "six",
    });
    const whole = await read({});
    expect([texts(whole), whole.nextCursor]).toEqual([["one", "two", "three", "Four", "five", "six"], null]);
    expect(texts(await read({ limit: "6" }))).toHaveLength(6);
  });

  test("masks the values that each build was made with", async () => {
    const { projectId, first, second, say, read } = await written();
    aws.values[`${projectId}/${first}`] = ["correct horse"];
    aws.values[`${projectId}/${second}`] = ["battery staple"];
    for (const id of [first, second]) say(id, 10, "correct horse battery staple");
    expect(texts(await read({ limit: "2" }))).toEqual([
      expect.stringMatching(/^(?!.*correct horse).* battery staple$/),
      expect.stringMatching(/^correct horse (?!.*battery staple)/),
    ]);
  });

  test("follows from any page, oldest first, and loses nothing with a small limit", async () => {
    const { second, say, read } = await written();
    const newest = await read({ limit: "2" });
    const older = await read({ limit: "2", cursor: newest.nextCursor });
    expect((await read({ cursor: newest.followCursor })).lines).toEqual([]);
    vi.setSystemTime(now.getTime() + 10_000);
    for (const word of ["seven", "eight", "nine"]) say(second, -5, word);
    for (const { followCursor } of [newest, older]) {
      const first = await read({ limit: "2", cursor: followCursor });
      expect([texts(first), first.nextCursor]).toEqual([["seven", "eight"], null]);
      const next = await read({ limit: "2", cursor: first.followCursor });
      expect(texts(next)).toEqual(["nine"]);
      expect((await read({ cursor: next.followCursor })).lines).toEqual([]);
    }
  });

  test("keeps its filters while it follows and leads back", async () => {
    const { first, second, say, read } = await written();
    expect(texts(await read({ buildId: first }))).toEqual(["one", "two", "three"]);
    expect(texts(await read({ since: ago(56).toISOString() }))).toEqual(["five", "six"]);
    expect(texts(await read({ text: "FO" }))).toEqual(["Four"]);
    const newest = await read({ buildId: second, text: "f", since: ago(57).toISOString(), limit: "1" });
    expect(texts(newest)).toEqual(["five"]);
    expect(texts(await read({ cursor: newest.nextCursor }))).toEqual(["Four"]);
    vi.setSystemTime(now.getTime() + 10_000);
    say(first, -5, "fifth");
    for (const word of ["sixth", "fifty", "ten"]) say(second, -5, word);
    expect(texts(await read({ cursor: newest.followCursor }))).toEqual(["fifty"]);
  });

  test("takes only a cursor of its project, and a build of its project", async () => {
    const [own, other] = [await written(), await written()];
    const { followCursor } = await other.read({});
    for (const cursor of [followCursor, "x", `${(await own.read({})).followCursor}x`]) {
      expect(await own.call("list-app-logs", { query: { cursor } })).toMatchObject({
        status: 400,
        body: { issues: [{ path: "cursor", message: "must be a cursor that this list gave out" }] },
      });
    }
    for (const limit of ["1", "0"]) {
      const query = { buildId: other.first, limit };
      expect(await own.call("list-app-logs", { query })).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
    for (const query of [{ buildId: own.first, limit: "0" }, { limit: "0" }])
      expect((await own.call("list-app-logs", { query })).status).toBe(400);
  });

  test("shows nothing that is older than is kept", async () => {
    const { first, say, read } = await written();
    aws.output = [];
    say(first, 31 * 24 * 3600, "long ago");
    say(first, 29 * 24 * 3600, "kept");
    expect(texts(await read({}))).toEqual(["kept"]);
    expect(texts(await read({ since: "2020-01-01T00:00:00Z" }))).toEqual(["kept"]);
  });
});

describe("get-metrics", () => {
  const point = (page: { points: object[] }) => page.points.at(-1);
  const none = {
    requests: null,
    errors: null,
    latencyMsP50: null,
    latencyMsP95: null,
    memoryMiB: null,
    cpuPercent: null,
  };
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now });
  });

  test("gives what was measured, with the memory of the instances that serve", async () => {
    const { build, call } = await newProject();
    const settings = { ...noSettings, memory: 2048 as const };
    const buildId = await build({ status: "ready", settings });
    aws.live = definitionOf(buildId);
    aws.measured = { CPUUtilization: 12.34, MemoryUtilization: 25 };
    const { status, body } = await call("get-metrics");
    expect(status).toBe(200);
    const minute = (minutesAgo: number) =>
      new Date(Math.floor(ago(60 * minutesAgo).getTime() / 60_000) * 60_000).toISOString();
    expect([body.from, body.stepSeconds, body.points.length]).toEqual([minute(60), 60, 61]);
    const measured = { requests: 0, errors: 0, memoryMiB: 512, cpuPercent: 12.3, restarts: 0 };
    expect(point(body)).toMatchObject({ at: minute(0), ...measured });
    expect(body.points[0]).toEqual({ at: minute(60), ...none, restarts: null });
  });

  test.each([`slipway-${newId("bld", now)}`, "other"])(
    "knows no settings of a version that is not ours: %s",
    async (family) => {
      const { call } = await newProject();
      aws.live = `arn:aws:ecs:us-east-1:000000000000:task-definition/${family}:1`;
      aws.measured = { MemoryUtilization: 25 };
      expect(point((await call("get-metrics")).body)).toMatchObject({ memoryMiB: 128 });
    },
  );

  test("begins when it is asked to, and answers an app that does not run without values", async () => {
    const { call } = await newProject();
    const since = ago(24 * 3600);
    const { body } = await call("get-metrics", { query: { since: since.toISOString() } });
    const from = new Date(Math.floor(since.getTime() / 300_000) * 300_000).toISOString();
    expect([body.from, body.stepSeconds]).toEqual([from, 300]);
    expect(body.points[0]).toEqual({ at: from, ...none, restarts: null });
    expect(point(body)).toMatchObject({ ...none, restarts: null });
  });

  test("counts as restarts the ends of instances that served, not those of deployments that failed", async () => {
    const { build, call } = await newProject();
    const [live, earlier, failed] = [
      await build({ status: "deploying" }),
      await build({ status: "ready" }),
      await build({ status: "error" }),
    ];
    aws.live = definitionOf(live);
    const restarts = async (...families: string[]) => {
      aws.ended = families.map((taskDefinitionArn) => ({ stopCode: "EssentialContainerExited", taskDefinitionArn }));
      const { body } = await call("get-metrics");
      return body.points.reduce((sum: number, { restarts: more }: { restarts: number }) => sum + more, 0);
    };
    expect(await restarts(definitionOf(live))).toBe(1);
    expect(await restarts(definitionOf(earlier), definitionOf(live), definitionOf(earlier))).toBe(3);
    const unknown = [definitionOf(failed), definitionOf(newId("bld", now)), "task-definition/other:1"];
    expect(await restarts(...unknown)).toBe(0);
    // Nothing serves any more whose task definition is ours.
    aws.live = "task-definition/other:1";
    expect(await restarts(...unknown, definitionOf(live), definitionOf(earlier))).toBe(1);
  });

  test("is a 404 for a stranger", async () => {
    const [own, other] = [await newProject(), await newProject()];
    const headers = await reader(other);
    expect(await own.call("get-metrics", { headers })).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(aws.called).not.toContain("DescribeServices");
  });
});
