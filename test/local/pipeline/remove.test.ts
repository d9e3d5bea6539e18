import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Build, LiveBuildCache } from "../../../lambdas/builds/model/rows.ts";
import { Variable } from "../../../lambdas/environments/model/rows.ts";
import { newRemoval, Removal } from "../../../lambdas/removals/model/removal.ts";
import type { Item, List, Put } from "../../../lambdas/table/entity.ts";
import { newId } from "../../../lambdas/table/ids.ts";
import { AwsError, type RawService } from "../../../local/aws/service.ts";
import { type Answers, begin, pass, useSteps } from "./steps.ts";

/** What AWS holds in a test. */
interface Aws {
  /** The active and the deregistered task definitions. */
  active: string[];
  inactive: string[];
  /** Log streams with their groups: `group stream`. */
  streams: string[];
  /** The keys of the objects by bucket. */
  objects: Record<string, string[]>;
  /** The statements and other calls of the Data API, in their order. */
  database: string[];
  /** How often the database says that it resumes. */
  resumes: number;
  /** Operations that are refused. */
  refused: Record<string, string>;
  /** How long ECS takes to list task definitions. */
  listSeconds: number;
}
let aws: Aws;
beforeEach(() => {
  aws = {
    active: [],
    inactive: [],
    streams: [],
    objects: {},
    database: [],
    resumes: 0,
    refused: {},
    listSeconds: 0,
  };
});
const without = <T>(all: T[], ...gone: T[]) => all.filter((one) => !gone.includes(one));

const answers: Answers = {
  StopExecution: () => ({ stopDate: 0 }),
  DeleteService: () => ({}),
  DeleteRepository: () => ({}),
  ListTaskDefinitions({ familyPrefix, status }) {
    pass(aws.listSeconds);
    const all = status === "ACTIVE" ? aws.active : aws.inactive;
    return { taskDefinitionArns: all.filter((arn) => arn.startsWith(`${familyPrefix}:`)) };
  },
  DeregisterTaskDefinition({ taskDefinition }) {
    aws.active = without(aws.active, taskDefinition);
    aws.inactive.push(taskDefinition);
    return {};
  },
  DeleteTaskDefinitions({ taskDefinitions }) {
    aws.inactive = without(aws.inactive, ...taskDefinitions);
    return { failures: [] };
  },
  DescribeLogStreams({ logGroupName, logStreamNamePrefix }) {
    const found = aws.streams.filter((name) => name.startsWith(`${logGroupName} ${logStreamNamePrefix}`));
    return { logStreams: found.map((name) => ({ logStreamName: name.split(" ")[1] })) };
  },
  DeleteLogStream({ logGroupName, logStreamName }) {
    aws.streams = without(aws.streams, `${logGroupName} ${logStreamName}`);
    return {};
  },
};

/** S3's list of versions, each of which has the version "v1", and their deletion. */
const objects: RawService = async ({ method, path, query, body }) => {
  const bucket = path.split("/")[1] ?? "";
  const all = aws.objects[bucket] ?? [];
  const headers = { "content-type": "application/xml" };
  if (method === "GET" && query.has("versions")) {
    const found = all.filter((key) => key.startsWith(query.get("prefix") ?? ""));
    const versions = found.map((key) => `<Version><Key>${key}</Key><VersionId>v1</VersionId></Version>`);
    return { status: 200, headers, body: `<ListVersionsResult>${versions.join("")}</ListVersionsResult>` };
  }
  if (method !== "POST" || !query.has("delete")) return undefined;
  const keys = [...body.toString().matchAll(/<Key>(.*?)<\/Key><VersionId>v1</g)].map(([, key]) => key ?? "");
  aws.objects[bucket] = without(all, ...keys);
  return { status: 200, headers, body: "<DeleteResult></DeleteResult>" };
};

const database: RawService = async ({ path, body }) => {
  const headers = { "content-type": "application/json" };
  if (!/^\/(BeginTransaction|Execute|CommitTransaction|RollbackTransaction)$/.test(path)) return undefined;
  if (aws.resumes > 0) {
    aws.resumes -= 1;
    return { status: 400, headers: { ...headers, "x-amzn-errortype": "DatabaseResumingException" }, body: "{}" };
  }
  aws.database.push(path === "/Execute" ? JSON.parse(body.toString()).sql : path);
  return { status: 200, headers, body: JSON.stringify(path === "/BeginTransaction" ? { transactionId: "t1" } : {}) };
};

const steps = useSteps({
  raw: [objects, database],
  answers: () =>
    Object.fromEntries(
      Object.entries(answers).map(([operation, answer]) => [
        operation,
        (input) => {
          const code = aws.refused[operation];
          if (code) throw new AwsError(code, "refused");
          return answer(input);
        },
      ]),
    ),
});
beforeAll(() => steps.load("remove"));

type Stage = "deployment" | "app" | "archives" | "images" | "output" | "builds" | "rows" | "tables" | "finish";

/** A project that was deleted while a build ran, unless it is told otherwise. */
async function deleted({ isBuilding = true } = {}) {
  const { organizationId, projectId, buildId, addBuild } = await steps.newProject({ status: "building" });
  const { row } = newRemoval(
    { id: projectId, kind: "project", organizationId, buildId: isBuilding ? buildId : null },
    60,
    begin,
  );
  await steps.table.write({ removal: Removal.put({ id: projectId }, row) });
  const partition: List<Item> = { pk: `PRJ#${projectId}`, prefix: "", limit: 1_000, read: (item) => item };
  return {
    organizationId,
    projectId,
    buildId,
    addBuild,
    remove: (stage: Stage) => steps.invoke("remove", { removal: row, stage }),
    row: async () => (await steps.table.read({ removal: Removal.at({ id: projectId }) })).removal,
    /** The sort keys of the project's rows. */
    rows: async () => (await steps.table.list(partition)).rows.map(({ sk }) => String(sk)),
  };
}
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

describe("the removal of a deleted project", () => {
  test("ends the execution of the build that ran", async () => {
    const { remove, buildId } = await deleted();
    expect(await remove("deployment")).toEqual({ done: true });
    expect(steps.calls).toMatchObject([
      {
        operation: "StopExecution",
        input: { executionArn: `arn:aws:states:us-east-1:000000000000:execution:deployment:${buildId}` },
      },
    ]);
    const idle = await deleted({ isBuilding: false });
    steps.calls.length = 0;
    expect(await idle.remove("deployment")).toEqual({ done: true });
    expect(steps.calls).toEqual([]);
  });

  test("deletes the service with its tasks, and the image repository", async () => {
    const { remove, projectId } = await deleted();
    expect([await remove("app"), await remove("images")]).toEqual([{ done: true }, { done: true }]);
    expect(steps.calls).toEqual([
      {
        operation: "DeleteService",
        input: { cluster: "apps", service: `app-${projectId.replace("_", "-")}`, force: true },
      },
      { operation: "DeleteRepository", input: { repositoryName: `slipway/${projectId}`, force: true } },
    ]);
  });

  test("deletes the source archives and the values of variables, and no other project's", async () => {
    const { remove, organizationId, projectId } = await deleted();
    const other = newId("prj", begin);
    aws.objects = {
      archives: [`archives/${organizationId}/${projectId}/one.zip`, `archives/${organizationId}/${other}/one.zip`],
      artifacts: [`values/${projectId}/one.json`, `values/${other}/one.json`],
    };
    expect(await remove("archives")).toEqual({ done: true });
    expect(aws.objects).toEqual({
      archives: [`archives/${organizationId}/${other}/one.zip`],
      artifacts: [`values/${other}/one.json`],
    });
  });

  test("deletes the output of the app and of release commands, and no other project's", async () => {
    const { remove, projectId } = await deleted();
    aws.streams = [`apps ${projectId}/b/app/1`, `apps release/${projectId}/b/app/1`, "apps prj_other/b/app/1"];
    expect(await remove("output")).toEqual({ done: true });
    expect(aws.streams).toEqual(["apps prj_other/b/app/1"]);
  });

  test("drops the tables of a database in one transaction, and waits for a database that resumes", async () => {
    const { remove, projectId } = await deleted();
    aws.resumes = 1;
    expect(await remove("tables")).toEqual({ done: true });
    expect(aws.database).toEqual([
      "/BeginTransaction",
      expect.stringContaining("pg_advisory_xact_lock"),
      `drop schema if exists "${projectId}" cascade`,
      expect.stringContaining("drop role"),
      "/CommitTransaction",
    ]);
  });

  const definitionsOf = (buildId: string) => [`slipway-${buildId}:1`, `slipway-release-${buildId}:1`];

  test("deletes builds with their task definitions and their output, and then their rows", async () => {
    const { remove, rows, buildId, addBuild } = await deleted();
    const other = await addBuild({ status: "ready", buildLog: "stream/1" });
    aws.active = [...definitionsOf(buildId), "slipway-bld_other:1"];
    // An earlier attempt died before it deleted these.
    aws.inactive = definitionsOf(other);
    aws.streams = ["builds stream/1", "builds stream/2"];
    expect(await remove("builds")).toEqual({ done: true });
    expect(aws).toMatchObject({ active: ["slipway-bld_other:1"], inactive: [], streams: ["builds stream/2"] });
    expect(await rows()).toEqual(["LOCK"]);
    expect(steps.inputs("DeleteLogStream")).toEqual([{ logGroupName: "builds", logStreamName: "stream/1" }]);
  });

  test("once more deletes what a step registered after the build's row was gone", async () => {
    const { remove, buildId } = await deleted();
    await remove("builds");
    aws.active = definitionsOf(buildId);
    expect(await remove("builds")).toEqual({ done: true });
    expect([aws.active, aws.inactive]).toEqual([[], []]);
  });

  test("without a build that ran deletes the others, and does nothing more if there are none", async () => {
    const { remove, rows } = await deleted({ isBuilding: false });
    expect(await remove("builds")).toEqual({ done: true });
    expect(await rows()).toEqual(["LOCK"]);
    steps.calls.length = 0;
    expect(await remove("builds")).toEqual({ done: true });
    expect(steps.calls).toEqual([]);
  });

  test("deletes a row that a late step has made of a deleted build", async () => {
    const { remove, rows, projectId } = await deleted({ isBuilding: false });
    const place = { projectId, id: newId("bld", begin) };
    await steps.table.write({ build: Build.update(place, { set: { buildLog: "stream/1" } }) });
    aws.active = definitionsOf(place.id);
    aws.streams = ["builds stream/1"];
    expect(await remove("builds")).toEqual({ done: true });
    expect([await rows(), aws.active, aws.inactive, aws.streams]).toEqual([["LOCK"], [], [], []]);
  });

  test.each([
    [1.5, true, 0],
    // Each build is looked up four times.
    [1.501, false, 1],
  ])("goes on for two minutes at most: a list in %d s", async (seconds, done, left) => {
    const { remove, rows, addBuild } = await deleted({ isBuilding: false });
    for (let n = 0; n < 20; n += 1) await addBuild({ status: "ready" });
    aws.listSeconds = seconds;
    expect(await remove("builds")).toEqual({ done });
    expect(await rows()).toHaveLength(left + 1);
    expect(await remove("builds")).toEqual({ done: true });
    expect(await rows()).toEqual(["LOCK"]);
  });

  test("leaves the row of a build whose task definitions ECS does not delete, for the next attempt", async () => {
    const { remove, rows, row, buildId } = await deleted();
    aws.active = definitionsOf(buildId);
    aws.refused.DeleteTaskDefinitions = "AccessDeniedException";
    await expect(remove("builds")).rejects.toMatchObject({ name: "AccessDeniedException" });
    expect(await rows()).toEqual([`BLD#${buildId}`, "LOCK"]);
    expect((await row())?.leaseUntil).toBe(inMinutes(1));
    aws.refused = {};
    expect(await remove("builds")).toEqual({ done: true });
    expect([await rows(), aws.active, aws.inactive]).toEqual([["LOCK"], [], []]);
  });

  test("deletes all other rows of the project, and none of another", async () => {
    const [gone, other] = [await deleted(), await deleted()];
    const { projectId } = gone;
    const at = begin.toISOString();
    const variables = Array.from({ length: 100 }, (_, n): [string, Put<unknown>] => {
      const id = newId("env", begin);
      const row = { id, name: `V${n}`, value: "v", createdAt: at, updatedAt: at };
      return [id, Variable.put({ projectId, id }, row)];
    });
    await steps.table.write(Object.fromEntries(variables));
    await steps.table.write({ live: LiveBuildCache.put({ projectId }, { buildId: null, readAt: at }) });
    expect(await gone.remove("rows")).toEqual({ done: true });
    expect([await gone.rows(), (await other.rows()).length]).toEqual([[], 2]);
    expect(await gone.remove("rows")).toEqual({ done: true });
  });

  test.each<Stage>(["deployment", "app", "archives", "images", "output", "builds", "rows", "tables"])(
    "renews its lease with each stage, and makes no new row of a removal that is over: %s",
    async (stage) => {
      const { remove, row, projectId } = await deleted();
      pass(30);
      await remove(stage);
      expect(await row()).toMatchObject({ attempt: 1, leaseUntil: inMinutes(10) });
      await steps.table.write({ removal: Removal.delete({ id: projectId }) });
      expect(await remove(stage)).toEqual({ done: true });
      expect(await row()).toBeUndefined();
    },
  );

  test("is over with its last stage, also if that is repeated", async () => {
    const { remove, row } = await deleted();
    expect(await remove("finish")).toEqual({ done: true });
    expect(await row()).toBeUndefined();
    expect(await remove("finish")).toEqual({ done: true });
    expect(await row()).toBeUndefined();
    expect(steps.calls).toEqual([]);
  });

  test.each<[Stage, string, string]>([
    ["deployment", "StopExecution", "ExecutionDoesNotExist"],
    ["app", "DeleteService", "ServiceNotFoundException"],
    ["images", "DeleteRepository", "RepositoryNotFoundException"],
    ["output", "DescribeLogStreams", "ResourceNotFoundException"],
  ])(
    "goes on where there is nothing to remove (%s), and is repeated where AWS refuses it",
    async (stage, call, code) => {
      const { remove, row } = await deleted();
      aws.refused[call] = code;
      expect(await remove(stage)).toEqual({ done: true });
      pass(30);
      const before = await row();
      aws.refused[call] = "AccessDeniedException";
      await expect(remove(stage)).rejects.toMatchObject({ name: "AccessDeniedException" });
      expect(await row()).toEqual(before);
    },
  );
});
