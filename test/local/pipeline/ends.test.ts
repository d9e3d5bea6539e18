import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Build, type BuildRow, Lock } from "../../../lambdas/builds/model/rows.ts";
import { Variable } from "../../../lambdas/environments/model/rows.ts";
import { newRemoval, Removal } from "../../../lambdas/removals/model/removal.ts";
import { newId } from "../../../lambdas/table/ids.ts";
import { AwsError, type RawService } from "../../../local/aws/service.ts";
import { type Answers, ago, begin, useSteps } from "./steps.ts";

const definitionOf = (family: string) => `arn:aws:ecs:us-east-1:000000000000:task-definition/${family}:1`;
const previousId = newId("bld", new Date("2026-11-19T10:00:00.000Z"));
const previous = { taskDefinition: definitionOf(`slipway-${previousId}`), buildId: previousId };

/** What AWS holds in a test. */
interface Aws {
  /** The task definition that the project's service runs; null if there is no service. */
  live: string | null;
  /** The hook that opened in the deployments. */
  hook: string | undefined;
  deployments: { serviceDeploymentArn: string; status: string; targetServiceRevisionArn: string; createdAt: number }[];
  /** The tasks of release commands, by family. */
  releases: Record<string, string[]>;
  /** The lines of image builds, by log stream. */
  logs: Record<string, string[]>;
  /** The values that builds were made with. */
  values: string[] | undefined;
  /** The status of the executions that exist, by name. */
  executions: Record<string, string>;
  /** Operations that are refused. */
  refused: Record<string, string>;
  /** How many pages without lines a log has before the others. */
  emptyPages: number;
  /** Awaited before an operation is answered. */
  // biome-ignore lint/suspicious/noExplicitAny: the inputs are those of the AWS SDK
  before: (operation: string, input: any) => Promise<unknown> | undefined;
}
let aws: Aws;
beforeEach(() => {
  aws = {
    live: null,
    deployments: [],
    hook: undefined,
    releases: {},
    logs: {},
    emptyPages: 0,
    values: undefined,
    executions: {},
    refused: {},
    before: () => undefined,
  };
});

const answers: Answers = {
  DescribeServices: () =>
    aws.live === null
      ? { services: [], failures: [{ reason: "MISSING" }] }
      : { services: [{ status: "ACTIVE", desiredCount: 1, taskDefinition: aws.live }], failures: [] },
  ListServiceDeployments: () => ({ serviceDeployments: aws.deployments }),
  DescribeServiceRevisions: ({ serviceRevisionArns }) => ({
    serviceRevisions: serviceRevisionArns.map((arn: string) => ({ serviceRevisionArn: arn, taskDefinition: arn })),
  }),
  DescribeServiceDeployments: ({ serviceDeploymentArns: [arn] }) => ({
    serviceDeployments: aws.deployments
      .filter(({ serviceDeploymentArn }) => serviceDeploymentArn === arn)
      .map(({ status }) => ({
        status,
        lifecycleHookDetails: aws.hook && [{ hookId: aws.hook, status: "AWAITING_ACTION" }],
      })),
  }),
  ContinueServiceDeployment: () => ({}),
  StopServiceDeployment: () => ({}),
  UpdateService: () => ({}),
  DeleteService() {
    aws.live = null;
    return {};
  },
  ListTasks: ({ family }) => ({ taskArns: aws.releases[family] ?? [] }),
  StopTask: () => ({}),
  GetLogEvents({ logGroupName, logStreamName, nextToken }) {
    const page = Number(nextToken?.slice(2) ?? 0);
    if (page < aws.emptyPages) return { events: [], nextBackwardToken: `b/${page + 1}` };
    const lines = aws.logs[`${logGroupName} ${logStreamName}`];
    if (!lines) throw new AwsError("ResourceNotFoundException", "There is no such stream.");
    return { events: lines.map((message) => ({ timestamp: begin.getTime(), message: `${message}\n` })) };
  },
  StartExecution({ name }) {
    if (aws.executions[name]) throw new AwsError("ExecutionAlreadyExists", "The execution exists.");
    aws.executions[name] = "RUNNING";
    return { executionArn: name, startDate: 0 };
  },
  DescribeExecution: ({ executionArn }) => ({ status: aws.executions[executionArn.split(":").at(-1)] }),
};
const values: RawService = async ({ method, path }) =>
  method === "GET" && path.startsWith("/artifacts/values/") && aws.values
    ? { status: 200, body: JSON.stringify(aws.values) }
    : { status: 404, headers: { "content-type": "application/xml" }, body: "<Error><Code>NoSuchKey</Code></Error>" };

const steps = useSteps({
  raw: [values],
  answers: () =>
    Object.fromEntries(
      Object.entries(answers).map(([operation, answer]) => [
        operation,
        async (input) => {
          await aws.before(operation, input);
          const code = aws.refused[operation];
          if (code) throw new AwsError(code, "refused");
          return answer(input);
        },
      ]),
    ),
});
beforeAll(() => steps.load("execution-ended", "fail-build", "finish", "reconcile-locks"));
type Project = Awaited<ReturnType<typeof steps.newProject>>;

const interrupted = "The deployment was interrupted on our side. Please create the build again.";
const at = begin.toISOString();

describe("the end of a deployment that serves", () => {
  const ready = { warning: "GET / answers 404.", appLog: "log/1", successes: [previousId] };
  const finish = ({ deployment }: Project) => steps.invoke("finish", { deployment, ready });

  test("makes the build ready and live and frees the project, once, also if the step is repeated", async () => {
    const project = await steps.newProject({ status: "deploying" });
    expect(await finish(project)).toEqual({});
    const rows = await project.rows();
    expect(rows).toMatchObject({
      build: { status: "ready", warning: "GET / answers 404.", appLog: "log/1" },
      lock: undefined,
      live: { buildId: project.buildId },
      redeployable: { buildIds: [project.buildId, previousId] },
    });
    expect(await finish(project)).toEqual({});
    expect(await project.rows()).toEqual(rows);
  });

  test("fails for a build that has ended otherwise, which stays as it is", async () => {
    const project = await steps.newProject({ status: "error", error: "It failed." });
    const rows = await project.rows();
    await expect(finish(project)).rejects.toThrow("The build could not be ended as ready");
    expect(await project.rows()).toEqual(rows);
  });
});

describe("a deployment that fails before its version is swapped", () => {
  const fail = ({ deployment }: Project, name: string, cause?: string) =>
    steps.invoke("fail-build", { deployment, error: { Error: name, Cause: cause } });
  const rejected = (errorMessage: string) => ["BuildRejected", JSON.stringify({ errorMessage })] as const;
  const imageBuild = ["States.TaskFailed", JSON.stringify({ Build: { Logs: { StreamName: "stream/1" } } })] as const;
  const output = ["npm error code E404", "npm error 404 no such package: hunter22", "npm ci failed with exit code 1"];
  const endOf = async (project: Project) => {
    const { build, lock } = await project.rows();
    return { status: build?.status, error: build?.error, isLocked: lock !== undefined };
  };

  test("ends its build with the reason of the step and frees the project", async () => {
    const project = await steps.newProject({ status: "analyzing", uploadToken: "token" });
    await fail(project, ...rejected("No start command was found."));
    expect(await endOf(project)).toEqual({ status: "error", error: "No start command was found.", isLocked: false });
    expect((await project.rows()).build).not.toHaveProperty("uploadToken");
    expect(steps.calls).toEqual([]);
  });

  test("keeps the first reason if the step is repeated", async () => {
    const project = await steps.newProject({ status: "analyzing" });
    await fail(project, ...rejected("No start command was found."));
    const rows = await project.rows();
    await fail(project, "States.Timeout");
    expect(await project.rows()).toEqual(rows);
  });

  const missing =
    "No archive was uploaded within 1 hour. Create a new build and PUT the zip to its url with Content-Type: application/zip.";
  const timedOut = "A step of the deployment timed out. Please create the build again.";
  const copy = { kind: "copy", buildId: previousId, key: "k", version: "v", size: 1 } as const;
  test.each<[string, Partial<BuildRow>, string, string]>([
    ["was never uploaded", {}, "States.Timeout", missing],
    ["took too long to build", { status: "building" }, "States.Timeout", timedOut],
    ["took too long to copy", { source: copy }, "States.Timeout", timedOut],
    ["met a fault", {}, "TransientFault", "The deployment failed on our side. Please create the build again."],
  ])("says of a build that it %s", async (_, change, code, error) => {
    const project = await steps.newProject(change);
    await fail(project, code);
    expect(await endOf(project)).toEqual({ status: "error", error, isLocked: false });
  });

  test("shows the output of a failed image build, masked, and where its log is", async () => {
    aws.logs["builds stream/1"] = output;
    aws.values = ["hunter22"];
    const project = await steps.newProject({ status: "building", runtime: "nodejs24.x", start: "node server.js" });
    await fail(project, ...imageBuild);
    const { build, lock } = await project.rows();
    expect(build).toMatchObject({ status: "error", buildLog: "stream/1" });
    expect(build?.error).toMatch(/^The image could not be built: npm ci failed with exit code 1\./);
    expect(build?.error).toContain("Detected: nodejs24.x, started with: node server.js");
    expect(build?.error).toContain("no such package: ");
    expect(build?.error).not.toContain("hunter22");
    expect(lock).toBeUndefined();
    expect(steps.inputs("GetLogEvents")).toMatchObject([{ limit: 2_000, startFromHead: false }]);
  });

  test("reads on before a page of the log without lines", async () => {
    aws.logs["builds stream/1"] = output;
    aws.emptyPages = 2;
    const project = await steps.newProject({ status: "building" });
    await fail(project, ...imageBuild);
    expect((await project.rows()).build?.error).toContain("no such package: ");
    expect(steps.inputs("GetLogEvents").map(({ nextToken }) => nextToken)).toEqual([undefined, "b/1", "b/2"]);
  });

  test("masks the present values of the project's variables in the output of a build for which none were kept", async () => {
    aws.logs["builds stream/1"] = output;
    const project = await steps.newProject({ status: "building" });
    const id = newId("env", begin);
    const row = { id, name: "PASSWORD", value: "hunter22", createdAt: at, updatedAt: at };
    await steps.table.write({ variable: Variable.put({ projectId: project.projectId, id }, row) });
    await fail(project, ...imageBuild);
    const { build } = await project.rows();
    expect(build?.error).toContain("no such package: ");
    expect(build?.error).not.toContain("hunter22");
  });

  test("ends a build also when its log cannot be found, and repeats the step while it cannot be read", async () => {
    const project = await steps.newProject({ status: "building" });
    aws.refused.GetLogEvents = "AccessDeniedException";
    await expect(fail(project, ...imageBuild)).rejects.toMatchObject({ name: "AccessDeniedException" });
    expect((await project.rows()).build?.status).toBe("building");
    aws.refused = {};
    await fail(project, ...imageBuild);
    const error = "The image could not be built: a command of the build failed.";
    expect(await endOf(project)).toEqual({ status: "error", error, isLocked: false });
  });

  test.each<[string, readonly [string, string?], boolean]>([
    ["its upload never arrived", ["States.Timeout"], false],
    ["the service failed", ["TransientFault"], false],
    ["its archive was rejected", rejected("No start command was found."), true],
    ["its image could not be built", imageBuild, true],
  ])("a canceled build is an error only by its own fault: %s", async (_, error, isError) => {
    const project = await steps.newProject({ status: "building", canceledAt: at });
    const next = await project.lockByAnother();
    await fail(project, ...error);
    expect(await project.rows()).toMatchObject({
      build: { status: isError ? "error" : "building", canceledAt: at },
      lock: { buildId: next },
    });
  });

  test("stops a release command that still runs, also that of a canceled build", async () => {
    for (const cancels of [false, true]) {
      const project = await steps.newProject({ status: "building", releaseDefinition: "definition" });
      aws.releases[`slipway-release-${project.buildId}`] = ["task/1"];
      if (cancels) await project.cancel();
      steps.calls.length = 0;
      await fail(project, "States.Timeout");
      expect(steps.inputs("StopTask")).toMatchObject([{ cluster: "apps", task: "task/1" }]);
    }
  });

  test("is repeated until ECS says whether a release command still runs", async () => {
    const project = await steps.newProject({ status: "building", releaseDefinition: "definition" });
    aws.refused.ListTasks = "AccessDeniedException";
    await expect(fail(project, "States.Timeout")).rejects.toMatchObject({ name: "AccessDeniedException" });
    expect(await endOf(project)).toMatchObject({ status: "building", isLocked: true });
  });

  test("makes no row of a build that was deleted with its project", async () => {
    const project = await steps.newProject({ status: "building" });
    aws.logs["builds stream/1"] = output;
    await steps.table.write({
      build: Build.delete({ projectId: project.projectId, id: project.buildId }),
      lock: Lock.delete(project),
    });
    for (const [name, cause] of [imageBuild, ["States.Timeout"]]) {
      await fail(project, String(name), cause);
      expect(await project.rows()).toMatchObject({ build: undefined, lock: undefined });
    }
  });
});

describe("an execution that ended by itself", () => {
  const ended = ({ deployment }: Project, status = "FAILED", input: unknown = deployment) =>
    steps.invoke("execution-ended", { detail: { status, input: JSON.stringify(input) } });

  test.each(["FAILED", "TIMED_OUT", "ABORTED"])("ends its build and frees the project: %s", async (status) => {
    const project = await steps.newProject({ status: "building" });
    await ended(project, status);
    const rows = await project.rows();
    expect(rows).toMatchObject({ build: { status: "error", error: interrupted }, lock: undefined, live: undefined });
    await ended(project, status);
    expect(await project.rows()).toEqual(rows);
  });

  test("in another way, or with another input, is refused and changes nothing", async () => {
    const project = await steps.newProject({ status: "building" });
    const rows = await project.rows();
    await expect(ended(project, "SUCCEEDED")).rejects.toThrow();
    await expect(ended(project, "FAILED", { id: project.buildId })).rejects.toThrow("not a deployment");
    expect([await project.rows(), steps.calls]).toEqual([rows, []]);
  });

  test("leaves a canceled build as it is, frees its project, and leaves the lock of the next build alone", async () => {
    const project = await steps.newProject({ status: "building", canceledAt: at });
    await ended(project);
    expect(await project.rows()).toMatchObject({ build: { status: "building", error: null }, lock: undefined });
    const next = await steps.newProject({ status: "deploying", canceledAt: at });
    const other = await next.lockByAnother();
    await ended(next);
    expect(await next.rows()).toMatchObject({ build: { status: "deploying" }, lock: { buildId: other } });
  });

  test("frees the project of a build that was deleted, and makes no row of it", async () => {
    const project = await steps.newProject({ status: "building" });
    await steps.table.write({ build: Build.delete({ projectId: project.projectId, id: project.buildId }) });
    await ended(project);
    expect(await project.rows()).toMatchObject({ build: undefined, lock: undefined });
  });

  test("leaves a build that is ready as it is", async () => {
    const project = await steps.newProject({ status: "ready" }, { isLocked: false });
    const rows = await project.rows();
    await ended(project);
    expect(await project.rows()).toEqual(rows);
  });

  test("has its release command stopped first", async () => {
    const project = await steps.newProject({ status: "building" });
    const family = `slipway-release-${project.buildId}`;
    aws.releases[family] = ["task/1", "task/2"];
    // One has ended in the meantime.
    aws.refused.StopTask = "InvalidParameterException";
    await ended(project);
    expect(steps.inputs("ListTasks")).toMatchObject([{ cluster: "apps", family }]);
    expect(steps.inputs("StopTask").map(({ task }) => task)).toEqual(["task/1", "task/2"]);
    expect((await project.rows()).build?.status).toBe("error");
  });

  test("is ended by a repeated event if ECS refuses to stop its release command", async () => {
    const project = await steps.newProject({ status: "building" });
    aws.refused.ListTasks = "AccessDeniedException";
    await expect(ended(project)).rejects.toMatchObject({ name: "AccessDeniedException" });
    expect(await project.rows()).toMatchObject({ build: { status: "building" }, lock: { buildId: project.buildId } });
    aws.refused = {};
    await ended(project);
    expect((await project.rows()).build?.status).toBe("error");
  });

  /** A build whose version ECS has given up, so that the previous one serves again. */
  async function rolledBack() {
    const taskDefinition = definitionOf("slipway-new");
    const project = await steps.newProject({ status: "deploying", taskDefinition, previous, updatedAt: at });
    const status = "ROLLBACK_SUCCESSFUL";
    const createdAt = begin.getTime() / 1000;
    aws.deployments = [{ serviceDeploymentArn: "arn:d", status, targetServiceRevisionArn: taskDefinition, createdAt }];
    aws.live = previous.taskDefinition;
    return project;
  }

  test("while it deployed has the previous version restored, which serves", async () => {
    const project = await rolledBack();
    await ended(project);
    const sentence = "The new version did not become healthy, so the previous version keeps serving.";
    expect(await project.rows()).toMatchObject({
      build: { status: "error", error: `${sentence} ${interrupted}` },
      lock: undefined,
      live: { buildId: previousId },
    });
  });

  test("while its first version deployed leaves nothing running", async () => {
    for (const change of [{ previous: null }, {}]) {
      aws.live = definitionOf("slipway-new");
      const project = await steps.newProject({ status: "deploying", ...change });
      await ended(project);
      const sentence = "The version did not become healthy, and nothing is running.";
      expect(await project.rows()).toMatchObject({
        build: { status: "error", error: `${sentence} ${interrupted}` },
        lock: undefined,
        live: { buildId: null },
      });
      expect(aws.live).toBeNull();
    }
  });

  test("while its first version deployed removes the service that the aborted step starts only then", async () => {
    const project = await steps.newProject({ status: "deploying", previous: null });
    let deletions = 0;
    aws.before = async (operation) => {
      if (operation !== "DeleteService") return;
      deletions += 1;
      // Lambda does not end the function that calls ECS.
      if (deletions === 3) aws.live = definitionOf("slipway-new");
      if (aws.live === null) throw new AwsError("ServiceNotFoundException", "There is no such service.");
    };
    await ended(project);
    expect([deletions, aws.live]).toEqual([3, null]);
    expect(await project.rows()).toMatchObject({
      build: { status: "error" },
      lock: undefined,
      live: { buildId: null },
    });
  });

  test("before its first version was started frees the project after ten seconds", async () => {
    const project = await steps.newProject({ status: "deploying", previous: null });
    aws.refused.DeleteService = "ServiceNotFoundException";
    await ended(project);
    const seconds = (Date.now() - begin.getTime()) / 1000;
    expect(seconds).toBeGreaterThan(10);
    expect(seconds).toBeLessThan(11.1);
    expect(await project.rows()).toMatchObject({
      build: { status: "error" },
      lock: undefined,
      live: { buildId: null },
    });
  });

  test("keeps the project's lock until the previous version is confirmed, and the event is delivered again", async () => {
    const project = await rolledBack();
    aws.live = definitionOf("slipway-new");
    await expect(ended(project)).rejects.toThrow("The previous version is not confirmed yet");
    expect(await project.rows()).toMatchObject({
      build: { status: "deploying", error: null },
      lock: { buildId: project.buildId },
      live: undefined,
    });
    aws.live = previous.taskDefinition;
    await ended(project);
    expect((await project.rows()).build?.status).toBe("error");
  });
});

describe("the reconciliation of locks", () => {
  beforeEach(async () => {
    // Each run looks at the locks of all projects.
    const locks = await steps.table.expiredLocks(Lock, "9", 1_000);
    for (const { projectId } of locks) await steps.table.write({ lock: Lock.delete({ projectId }) });
    const removals = await steps.table.expiredLocks(Removal, "9", 1_000, "REMOVAL");
    for (const { id } of removals) await steps.table.write({ removal: Removal.delete({ id }) });
  });
  const reconcile = (event: object = {}) => steps.invoke("reconcile-locks", event);
  /** Step Functions does not start the execution of this name. */
  function refuseToStart(name: string): void {
    aws.before = async (operation, input) => {
      aws.refused = operation === "StartExecution" && input.name === name ? { [operation]: "AccessDenied" } : {};
    };
  }
  /** Runs the reconciliation, and returns what it logs as errors. */
  async function logged(): Promise<object[]> {
    const lines: string[] = [];
    const spy = vi.spyOn(process.stdout, "write").mockImplementation((line) => lines.push(String(line)) > 0);
    await reconcile().finally(() => spy.mockRestore());
    return lines.map((line) => JSON.parse(line)).filter(({ level }) => level === "error");
  }
  const later = (minutes: number) => ago(-60 * minutes).toISOString();
  /** A build of a project, whose lock's lease ends so many seconds from now. */
  async function locked(seconds: number, change: Partial<BuildRow> = { status: "building" }) {
    const project = await steps.newProject(change);
    const lease = (leaseUntil: string) => steps.table.write({ lock: Lock.update(project, { set: { leaseUntil } }) });
    await lease(ago(-seconds).toISOString());
    return { ...project, lock: async () => (await project.rows()).lock };
  }

  test("starts an execution that was never started, and looks again a quarter of an hour later", async () => {
    const project = await locked(-1);
    await reconcile({ id: "an event of the schedule" });
    expect(steps.inputs("StartExecution").map(({ name, input }) => [name, JSON.parse(input)])).toEqual([
      [project.buildId, project.deployment],
    ]);
    expect(await project.lock()).toMatchObject({ status: "building", leaseUntil: later(15) });
    // Until then it has nothing to do.
    await reconcile();
    expect(steps.inputs("StartExecution")).toHaveLength(1);
  });

  test.each(["RUNNING", "PENDING_REDRIVE"])("leaves an execution that is %s alone", async (status) => {
    const project = await locked(-1);
    aws.executions[project.buildId] = status;
    await reconcile();
    expect(await project.rows()).toMatchObject({ build: { status: "building" }, lock: { leaseUntil: later(15) } });
  });

  describe("for a build that waits", () => {
    /** A build that waits for a deployment of another build of its project. */
    async function waiting(other: Partial<BuildRow>, change: Partial<BuildRow> = {}) {
      const project = await locked(-1, { status: "building", waitedAt: at, ...change });
      aws.executions[project.buildId] = "RUNNING";
      const failed = await project.addBuild(other);
      const targetServiceRevisionArn = definitionOf(`slipway-${failed}`);
      const createdAt = begin.getTime() / 1000;
      aws.deployments = [{ serviceDeploymentArn: "arn:d", status: "IN_PROGRESS", targetServiceRevisionArn, createdAt }];
      return project;
    }
    const changes = () =>
      ["DeleteService", "ContinueServiceDeployment", "StopServiceDeployment"].flatMap((one) =>
        steps.inputs(one).map((input) => [one, input]),
      );

    test("rolls back what an aborted step of a failed build has started", async () => {
      const project = await waiting({ status: "error", previous });
      aws.hook = "hook-1";
      await reconcile();
      const serviceDeploymentArn = "arn:d";
      const answered = ["ContinueServiceDeployment", { serviceDeploymentArn, hookId: "hook-1", action: "ROLLBACK" }];
      expect(changes()).toEqual([answered]);
      expect(await project.lock()).toMatchObject({ leaseUntil: later(15) });
      // An app that never becomes healthy opens no hook.
      await waiting({ status: "error", previous });
      aws.hook = undefined;
      await reconcile();
      expect(changes()).toEqual([answered, ["StopServiceDeployment", { serviceDeploymentArn, stopType: "ROLLBACK" }]]);
    });

    test("deletes the service that an aborted step of a failed first build has started", async () => {
      await waiting({ status: "error", previous: null });
      await reconcile();
      expect(changes()).toEqual([["DeleteService", { cluster: "apps", service: expect.any(String), force: true }]]);
    });

    test.each<[string, Partial<BuildRow>, Partial<BuildRow>]>([
      ["whose service may be its own", { status: "error", previous: null }, { status: "deploying" }],
      ["for a deployment of a build that is ready", { status: "ready", previous }, {}],
      ["no more, because it does not wait at all", { status: "error", previous }, { waitedAt: undefined }],
    ])("leaves ECS alone %s", async (_, other, change) => {
      await waiting(other, change);
      await reconcile();
      expect(changes()).toEqual([]);
    });
  });

  test("ends the build of an execution that is over, and frees its project", async () => {
    const project = await locked(-1);
    aws.executions[project.buildId] = "ABORTED";
    await reconcile();
    expect(await project.rows()).toMatchObject({ build: { status: "error", error: interrupted }, lock: undefined });
  });

  test("after a restart looks at every lock, and otherwise only at those whose lease has ended", async () => {
    const [fresh, due] = [await locked(60), await locked(-1)];
    aws.executions[fresh.buildId] = "FAILED";
    aws.executions[due.buildId] = "FAILED";
    await reconcile();
    expect([await fresh.lock(), await due.lock()]).toEqual([
      expect.objectContaining({ leaseUntil: later(1) }),
      undefined,
    ]);
    await reconcile({ all: true });
    expect(await fresh.lock()).toBeUndefined();
  });

  test("goes on with the next lock if one cannot be reconciled", async () => {
    const [first, second] = [await locked(-2), await locked(-1)];
    refuseToStart(first.buildId);
    expect(await logged()).toMatchObject([{ buildId: first.buildId, error: "AccessDenied" }]);
    expect([await first.lock(), await second.lock()]).toMatchObject([
      { leaseUntil: ago(2).toISOString() },
      { leaseUntil: later(15) },
    ]);
  });

  test("leaves a lock alone that went to another build meanwhile, and makes none that was released", async () => {
    const [taken, released] = [await locked(-2), await locked(-1)];
    aws.before = async (operation) => {
      if (operation !== "StartExecution") return;
      if (steps.inputs(operation).length === 1) await taken.lockByAnother();
      else await steps.table.write({ lock: Lock.delete(released) });
    };
    await reconcile();
    expect([await taken.lock(), await released.lock()]).toMatchObject([
      { leaseUntil: ago(2).toISOString() },
      undefined,
    ]);
  });

  /** The row of a removal whose lease ends so many seconds from now. */
  async function removing(seconds: number, attempt = 1) {
    const id = newId("prj", begin);
    const owner = { id, organizationId: newId("org", begin), kind: "project" as const, buildId: null };
    const { row } = newRemoval(owner, 60, ago(60 - seconds));
    await steps.table.write({ removal: Removal.put({ id }, { ...row, attempt }) });
    const { attempt: _, leaseUntil: __, lockShard: ___, ...input } = row;
    return { id, input, row: async () => (await steps.table.read({ removal: Removal.at({ id }) })).removal };
  }
  const startedExecutions = () =>
    steps
      .inputs("StartExecution")
      .map(({ stateMachineArn, name, input }) => [stateMachineArn.split(":").at(-1), name, JSON.parse(input)]);

  test("starts a removal that was never started, and looks again ten minutes later", async () => {
    const removal = await removing(-1);
    await reconcile();
    expect(startedExecutions()).toEqual([["removal", `${removal.id}-1`, removal.input]]);
    expect(await removal.row()).toMatchObject({ attempt: 1, leaseUntil: later(10) });
    await reconcile();
    expect(startedExecutions()).toHaveLength(1);
  });

  test("starts a removal again that ended before everything was removed, under a name of its own", async () => {
    const removal = await removing(-1, 3);
    aws.executions[`${removal.id}-3`] = "FAILED";
    await reconcile();
    expect(startedExecutions().map(([, name]) => name)).toEqual([`${removal.id}-3`, `${removal.id}-4`]);
    expect(startedExecutions()[1]?.[2]).toEqual(removal.input);
    expect(await removal.row()).toMatchObject({ attempt: 4, leaseUntil: later(10) });
    // An attempt that runs is left alone.
    await reconcile({ all: true });
    expect(
      startedExecutions()
        .map(([, name]) => name)
        .slice(2),
    ).toEqual([`${removal.id}-4`]);
    expect(await removal.row()).toMatchObject({ attempt: 4 });
  });

  test("looks at removals whose lease has not ended only after a restart, and at locks beside them", async () => {
    const [removal, project] = [await removing(30), await locked(30)];
    await reconcile();
    expect(startedExecutions()).toEqual([]);
    await reconcile({ all: true });
    expect(startedExecutions().map(([machine]) => machine)).toEqual(["removal", "deployment"]);
    expect([await removal.row(), await project.lock()]).toMatchObject([
      { leaseUntil: later(10) },
      { leaseUntil: later(15) },
    ]);
  });

  test("goes on with the next removal, and with the locks, if one cannot be reconciled", async () => {
    const [first, second, project] = [await removing(-2), await removing(-1), await locked(-1)];
    refuseToStart(`${first.id}-1`);
    expect(await logged()).toMatchObject([{ id: first.id, error: "AccessDenied" }]);
    expect(await first.row()).toMatchObject({ leaseUntil: ago(2).toISOString() });
    expect(await second.row()).toMatchObject({ leaseUntil: later(10) });
    expect(await project.lock()).toMatchObject({ leaseUntil: later(15) });
  });

  test("makes no new row of a removal that finished meanwhile, and does not set another attempt back", async () => {
    const [finished, renewed] = [await removing(-2), await removing(-1)];
    aws.before = async (operation) => {
      if (operation !== "StartExecution") return;
      if (steps.inputs(operation).length === 1) await steps.table.write({ removal: Removal.delete(finished) });
      else await steps.table.write({ removal: Removal.update(renewed, { set: { attempt: 7 } }) });
    };
    await reconcile();
    expect(await finished.row()).toBeUndefined();
    expect(await renewed.row()).toMatchObject({ attempt: 7, leaseUntil: ago(1).toISOString() });
  });
});
