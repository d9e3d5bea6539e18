import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest";
import {
  Addresses,
  Build,
  type BuildRow,
  LiveBuildCache,
  Lock,
  RedeployableBuilds,
} from "../../../lambdas/builds/model/rows.ts";
import { newBuild } from "../../../lambdas/builds/model/transitions.ts";
import { newId } from "../../../lambdas/table/ids.ts";
import { type AwsServer, startHttpServer } from "../../../local/aws/http-server.ts";
import { AwsError, jsonError, type RawResponse, type RawService } from "../../../local/aws/service.ts";
import { type ListenerId, listeners, removalSteps, type StepId, steps } from "../../../statemachines/steps.ts";
import { startTable } from "../../harness/table.ts";

/** The answers to calls of the AWS JSON protocols, by operation. An answer that throws an AwsError refuses the call. */
// biome-ignore lint/suspicious/noExplicitAny: the inputs are those of the AWS SDK
export type Answers = Record<string, (input: any) => object | Promise<object>>;
type FunctionId = StepId | ListenerId | "remove";

interface Chosen {
  /** Asked at each call, so that a test can change its answers. */
  answers: () => Answers;
  /** Services of other protocols, such as S3. */
  raw?: RawService[];
  environment?: Record<string, string>;
}

/** The time at which each test begins. It passes only while a step pauses, and by `pass`. */
export const begin = new Date("2026-11-20T10:00:00.000Z");
/** When the builds of the tests were created. */
export const created = new Date("2026-11-20T09:59:00.000Z");
/** A moment before the present one (or after it, for a negative number). */
export const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
/** Lets time pass, for example while AWS answers. */
export const pass = (seconds: number) => void vi.setSystemTime(Date.now() + seconds * 1000);

const environment = {
  TABLE_NAME: "rows",
  CLUSTER_NAME: "apps",
  ARCHIVES_BUCKET: "archives",
  ARTIFACTS_BUCKET: "artifacts",
  FILES_BUCKET: "files",
  STATE_MACHINE_ARN: "arn:aws:states:us-east-1:000000000000:stateMachine:deployment",
  REMOVAL_MACHINE_ARN: "arn:aws:states:us-east-1:000000000000:stateMachine:removal",
  REMOVAL_SETTLE_SECONDS: "60",
  APP_TASK_ROLE: "arn:aws:iam::000000000000:role/app",
  APP_EXECUTION_ROLE: "arn:aws:iam::000000000000:role/app-execution",
  APP_SUBNETS: "subnet-1,subnet-2",
  APP_SECURITY_GROUPS: "sg-1",
  APP_LOG_GROUP: "apps",
  BUILD_LOG_GROUP: "builds",
  IMAGE_REPOSITORY: "000000000000.dkr.ecr.us-east-1.amazonaws.com/slipway",
  IMAGE_REPOSITORIES: "arn:aws:ecr:us-east-1:000000000000:repository/slipway",
  SERVICE_HOST: "slipway.example",
  RELEASE_TIMEOUT_SECONDS: "300",
  HEALTH_TIMEOUT_SECONDS: "120",
  PROBE_HEADER_NAME: "x-slipway-probe",
  PROBE_HEADER_VALUE: "new-version",
  DATABASE_ARN: "arn:aws:rds:us-east-1:000000000000:cluster:slipway",
  DATABASE_SECRET_ARN: "arn:aws:secretsmanager:us-east-1:000000000000:secret:slipway",
  DATABASE_WAIT_SECONDS: "1",
};

const load = (id: FunctionId) => import(`../../../lambdas/pipeline/${id}.ts`);

/** AWS has the clock of the test: the SDK repeats a refused call after it has corrected the clock. */
const dated = (answer: RawResponse): RawResponse => ({
  ...answer,
  headers: { ...answer.headers, date: new Date().toUTCString() },
});

/** A step that pauses more often has stopped to wait. */
const pausesMax = 500;
const timeoutOf = (id: FunctionId) => ({ ...steps, ...listeners, ...removalSteps })[id].timeoutSeconds;

/**
 * Runs functions of the pipeline in this process: with the embedded DynamoDB, an AWS whose answers the test chooses, and a
 * clock that only their pauses move, so that twenty seconds of waiting take milliseconds. Called once at the top of a file.
 */
export function useSteps({ answers, raw = [], environment: more = {} }: Chosen) {
  let started: Awaited<ReturnType<typeof startTable>>;
  let aws: AwsServer;
  let pauses = 0;
  let deadline = 0;
  /** The calls of a test in their order, with their inputs. */
  // biome-ignore lint/suspicious/noExplicitAny: the inputs are those of the AWS SDK
  const calls: { operation: string; input: any }[] = [];

  async function pause(milliseconds = 1): Promise<void> {
    // The test is over.
    if (!vi.isFakeTimers()) throw new Error("A step pauses after its test");
    pauses += 1;
    if (pauses > pausesMax) throw new Error("A step pauses without an end");
    pass(milliseconds / 1000);
    if (Date.now() > deadline) throw new Error("A step takes longer than its time-out");
    await new Promise(setImmediate);
  }

  beforeAll(async () => {
    started = await startTable();
    aws = await startHttpServer({
      bodyBytesMax: 1_000_000,
      errorAnswer: (error) => dated(jsonError(error)),
      async handle({ method, path, query, headers, readBody }) {
        const body = await readBody();
        const operation = String(headers["x-amz-target"] ?? "").split(".")[1];
        for (const service of operation === undefined ? raw : []) {
          const answer = await service({ method, path, query, headers, body });
          if (answer) return dated(answer);
        }
        if (operation === undefined) throw new AwsError("NoSuchKey", `${method} ${path} has no answer`, 404);
        const input = JSON.parse(body.toString());
        calls.push({ operation, input });
        const answer = answers()[operation];
        if (!answer) throw new AwsError("UnknownOperationException", `${operation} has no answer`);
        return { status: 200, body: JSON.stringify(await answer(input)) };
      },
    });
    for (const [name, value] of Object.entries({ ...environment, ...more })) vi.stubEnv(name, value);
    for (const name of ["", "_S3"]) vi.stubEnv(`AWS_ENDPOINT_URL${name}`, aws.endpoint);
    // Another test file of this process may have loaded the functions, with the addresses of its own service.
    vi.resetModules();
    vi.doMock("node:timers/promises", async (original) => ({ ...(await original<object>()), setTimeout: pause }));
  });
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: begin });
    calls.length = 0;
    pauses = 0;
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  afterAll(async () => {
    vi.doUnmock("node:timers/promises");
    // The next file of this process must not get the functions with the addresses of these servers.
    vi.resetModules();
    await aws.close();
    await started.close();
  });

  return {
    get table() {
      return started.table;
    },
    /** The address of AWS, and of the services of other protocols. */
    get endpoint() {
      return aws.endpoint;
    },
    calls,
    /** The inputs of the calls of one operation. */
    inputs: (operation: string) => calls.filter((call) => call.operation === operation).map(({ input }) => input),
    /** Loads functions before the tests; others are loaded by the first test that invokes them. */
    load: (...ids: FunctionId[]) => Promise.all(ids.map(load)),
    /** Invokes a function as Lambda does: its time-out ends it. */
    async invoke(id: FunctionId, event: object) {
      const { handler } = await load(id);
      deadline = Date.now() + timeoutOf(id) * 1000;
      // Event and output are JSON.
      const output = await handler(JSON.parse(JSON.stringify(event)), {});
      return output === undefined ? undefined : JSON.parse(JSON.stringify(output));
    },
    /** A project with a build, which is changed as given and holds the project's lock unless it is told otherwise. */
    async newProject(change: Partial<BuildRow> = {}, { isLocked = true } = {}) {
      const owner = { organizationId: newId("org", created), projectId: newId("prj", created) };
      const project = { projectId: owner.projectId };
      /** Stores another build of the project, without the lock. */
      async function addBuild(set: Partial<BuildRow>, at = created): Promise<string> {
        const id = newId("bld", at);
        const { row, writes } = newBuild(
          { id, ...owner, title: null, description: null, source: { kind: "upload" } },
          at,
        );
        await started.table.write({ build: Build.put({ ...project, id }, { ...row, ...set }) });
        if (set === change && isLocked) {
          await started.table.write({ lock: writes.lock });
          await started.table.write({ lock: Lock.update(project, { set: { status: set.status ?? "pending" } }) });
        }
        return id;
      }
      const buildId = await addBuild(change);
      const deployment = { ...owner, buildId, source: "upload" as const };
      return {
        ...deployment,
        /** What the state machine passes to each step. */
        deployment,
        addBuild,
        /** The project's rows as they are stored. */
        rows: (id = buildId) =>
          started.table.read({
            build: Build.at({ ...project, id }),
            lock: Lock.at(project),
            live: LiveBuildCache.at(project),
            addresses: Addresses.at(project),
            redeployable: RedeployableBuilds.at(project),
          }),
        change: (set: Partial<BuildRow>) =>
          started.table.write({ build: Build.update({ ...project, id: buildId }, { set }) }),
        /** The write that removes fields of the build. */
        without: (...remove: (keyof BuildRow)[]) => Build.update({ ...project, id: buildId }, { remove }),
        /** The user cancels the build, so that the lock is free. */
        async cancel() {
          await this.change({ canceledAt: new Date().toISOString() });
          await started.table.write({ lock: Lock.delete(project) });
        },
        /** Another build has the project's lock. */
        async lockByAnother(): Promise<string> {
          const other = newId("bld", new Date());
          await started.table.write({ lock: Lock.update(project, { set: { buildId: other } }) });
          return other;
        },
        succeeded: (...buildIds: string[]) =>
          started.table.write({ all: RedeployableBuilds.put(project, { buildIds }) }),
        knowsAddress: (url: string) => started.table.write({ url: Addresses.update(project, { set: { url } }) }),
      };
    },
  };
}
