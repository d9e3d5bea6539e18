import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallFault } from "../../../local/aws/call-faults.ts";
import { kind } from "../../../local/behavior.ts";
import { address, nodeApp } from "../../harness/app.ts";
import { propertySeed } from "../../harness/property-seed.ts";
import { type FaultyProject, type FaultyService, holdsInvariants, startFaulty, textAt } from "./faulty-projects.ts";

/**
 * SLIPWAY_TESTS=all gives every fault to every call, and CALL_FAULTS=<pattern> chooses cases by their names; otherwise a spread
 * of them keeps the set short enough for CI.
 */
const isEverything = process.env.SLIPWAY_TESTS === "all";
const { CALL_FAULTS: pattern } = process.env;
const sampled = 6;

const says = (text: string) => nodeApp(`res.end(${JSON.stringify(text)})`);
const exits = nodeApp("", "console.log('no luck'); process.exit(3);");

/** More consecutive calls than one invocation of a step makes, so that the step itself is repeated. */
const burst = 9;
/** A step is invoked again after seconds, so few faults last long. */
const invocationBurst = 4;
const single: [string, CallFault, number][] = [
  ["throttled", { kind: "throttled" }, 1],
  ["throttled for a while", { kind: "throttled" }, burst],
  ["a fault of AWS", { kind: "failed" }, 1],
  ["faults of AWS for a while", { kind: "failed" }, burst],
  ["answered after the client's time-out", { kind: "late", ms: 3_500 }, 1],
  ["executed, its answer lost", { kind: "lost" }, 1],
];
/** Not repeated by the SDK and not transient; the build may end as `error`, with the version before. */
const refused: typeof single = [["refused", { kind: "refused", code: "ClientException" }, 1]];
/** Refused because of the deployment's state, which is read again. */
const readAgain = ["ECS.ContinueServiceDeployment", "ECS.StopServiceDeployment"];
/** By a route, whose answer then says so. */
const byRoutes = ["STS.AssumeRole", "StepFunctions.StartExecution"];
const stale: typeof single = [
  ["answered with an earlier state", { kind: "stale" }, 1],
  ["answered with an earlier state for a while", { kind: "stale" }, 4],
  ["answered as if nothing existed", { kind: "stale", isEmpty: true }, 1],
];

/** An app whose release command adds the id of its process as a line to this file. */
const releases = (text: string, file: string) => ({
  ...says(text),
  "slipway.json": JSON.stringify({ releaseCommand: `echo $$ >> ${file}` }),
});

/** Each scenario follows a version that serves, unless it is the project's first deployment. A good version responds with its text. */
const scenarios = {
  "a good version": { isFirst: false, filesOf: says, status: "ready" },
  "a version that exits": { isFirst: false, filesOf: () => exits, status: "error" },
  "a first deployment": { isFirst: true, filesOf: says, status: "ready" },
  "a first deployment that exits": { isFirst: true, filesOf: () => exits, status: "error" },
  "a rebuild": { isFirst: false, filesOf: null, status: "ready" },
  "a release command": { isFirst: false, filesOf: releases, status: "ready" },
} as const;
type Scenario = keyof typeof scenarios;

/** The calls of the pipeline, and how often each is made at most in a scenario whose calls succeed. */
const calls: [operation: string, times: number, reads: boolean, scenarios: Scenario[]][] = [
  ["ECS.DescribeServices", 4, true, ["a good version", "a version that exits", "a first deployment that exits"]],
  ["ECS.RegisterTaskDefinition", 1, false, ["a good version", "a first deployment"]],
  ["ECS.UpdateService", 1, false, ["a good version", "a version that exits"]],
  ["ECS.CreateService", 1, false, ["a first deployment", "a first deployment that exits"]],
  ["ECS.RunTask", 1, false, ["a release command"]],
  ["ECS.DeleteService", 1, false, ["a first deployment that exits"]],
  ["ECS.ListServiceDeployments", 3, true, ["a good version", "a version that exits", "a first deployment"]],
  ["ECS.DescribeServiceRevisions", 2, true, ["a good version", "a version that exits"]],
  ["ECS.DescribeServiceDeployments", 4, true, ["a good version", "a version that exits", "a first deployment"]],
  ["ECS.ContinueServiceDeployment", 1, false, ["a good version", "a first deployment"]],
  ["ECS.StopServiceDeployment", 1, false, ["a version that exits"]],
  ["ECS.ListTasks", 2, true, ["a good version", "a version that exits"]],
  ["ECS.DescribeTasks", 1, true, ["a version that exits"]],
  ["ECS.ListGatewayRoutes", 1, false, ["a first deployment"]],
  ["ECS.DescribeGatewayRoute", 1, false, ["a first deployment"]],
  ["CodeBuild.StartBuild", 1, false, ["a good version"]],
  ["StepFunctions.SendTaskSuccess", 1, false, ["a good version"]],
  ["S3.HeadObject", 1, false, ["a good version"]],
  ["S3.GetObject", 3, false, ["a good version"]],
  ["S3.PutObject", 2, false, ["a good version"]],
  // By the route, before it writes: the client gets a 503 and repeats its request.
  ["STS.AssumeRole", 1, false, ["a good version", "a first deployment"]],
  // By the route; what it fails to start is started by reconcile-locks.
  ["StepFunctions.StartExecution", 1, false, ["a good version"]],
  ["S3.CopyObject", 1, false, ["a rebuild"]],
  ["Logs.GetLogEvents", 1, false, ["a version that exits"]],
  // By the state machine. A late one is ended by Lambda after its work, and is invoked again.
  ["Lambda.Invoke", 5, false, ["a good version", "a version that exits", "a first deployment", "a release command"]],
];

interface Case {
  name: string;
  operation: string;
  fault: CallFault;
  from: number;
  count: number;
  scenario: Scenario;
}

const countOf = (operation: string, count: number) =>
  operation === "Lambda.Invoke" ? Math.min(count, invocationBurst) : count;

const all: Case[] = calls.flatMap(([operation, times, isRead, under]) =>
  [
    ...single,
    ...(byRoutes.includes(operation) ? [] : refused),
    ...(isRead && operation.startsWith("ECS.") ? stale : []),
  ].flatMap(([what, fault, count]) =>
    Array.from({ length: times }, (_, from) => from).flatMap((from) =>
      under.map((scenario) => ({
        name: `${scenario}: ${operation} number ${from + 1} ${what}`,
        operation,
        fault,
        from,
        count: countOf(operation, count),
        scenario,
      })),
    ),
  ),
);
/** Longer than a deployment waits for an answer that fits the project's builds. */
const lasting = ["a good version", "a version that exits"] as const;
for (const scenario of lasting) {
  all.push({
    name: `${scenario}: ECS.DescribeServices answered as if nothing existed for long`,
    operation: "ECS.DescribeServices",
    fault: { kind: "stale", isEmpty: true },
    from: 0,
    count: 14,
    scenario,
  });
}
const seed = propertySeed();
/** Without those that wait for reconcile-locks, which runs once a minute. */
const short = all.filter(({ name }) => !/StartExecution .* for a while$/.test(name));
/** Cases spread over the whole table; another seed takes others. */
const step = short.length / sampled;
const spread = Array.from(
  { length: sampled },
  (_, index) => short[Math.floor(index * step + (seed % short.length)) % short.length],
);
/** Cases that were wrong once, or that the most likely mistakes would break. */
const alwaysChosen = new Set([
  "a version that exits: ECS.ListServiceDeployments number 2 answered with an earlier state",
  "a version that exits: ECS.DescribeServices number 1 answered with an earlier state",
  "a good version: CodeBuild.StartBuild number 1 throttled for a while",
  "a good version: ECS.DescribeServiceDeployments number 1 throttled for a while",
  "a good version: STS.AssumeRole number 1 throttled for a while",
  "a release command: ECS.RunTask number 1 executed, its answer lost",
  "a version that exits: ECS.DescribeServices answered as if nothing existed for long",
  "a good version: ECS.ContinueServiceDeployment number 1 refused",
  "a good version: Lambda.Invoke number 4 answered after the client's time-out",
]);
function isChosen(one: Case): boolean {
  if (pattern !== undefined) return new RegExp(pattern).test(one.name);
  return isEverything || alwaysChosen.has(one.name) || spread.includes(one);
}
const chosen = all.filter(isChosen);
/** More projects at a time would wait for the processors. */
const atATime = 6;

/** A project, and what its serving version says. */
interface Serving {
  project: FaultyProject;
  text: string;
}

/** A case may make a project, and an organization holds 500. */
const casesOfService = 400;
const parts = Array.from({ length: Math.ceil(chosen.length / casesOfService) }, (_, index) => ({
  part: chosen.slice(index * casesOfService, (index + 1) * casesOfService),
}));

describe.each(parts)("each call of the pipeline refused, throttled, lost, late or stale", ({ part }) => {
  let service: FaultyService;
  const outcomes = new Map<Case, PromiseWithResolvers<void>>();
  const folder = mkdtempSync(join(tmpdir(), "call-faults-"));
  beforeAll(async () => {
    service = await startFaulty(kind);
    process.stdout.write(`${part.length} of ${all.length} cases, PROPERTY_SEED=${seed}\n`);
    for (const one of part) outcomes.set(one, Promise.withResolvers());
    const waiting = [...outcomes];
    const work = async () => {
      let serving: Serving | undefined;
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [one, { promise, resolve, reject }] = next;
        promise.catch(() => {});
        const left = run(one, serving);
        await left.then(() => resolve(), reject);
        // After a case that was wrong, the next one has a project of its own.
        serving = await left.catch(() => undefined);
      }
    };
    for (let worker = 0; worker < atATime; worker += 1) void work();
  });
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  async function newServing(): Promise<Serving> {
    const project = await service.newProject();
    expect(await service.deploy(project, says("old"))).toMatchObject({ status: "ready" });
    return { project, text: "old" };
  }

  /** Runs a case and returns what serves after it. The case follows the version that an earlier one left, which saves a deployment. */
  async function run(
    { name, operation, fault, from, count, scenario }: Case,
    left: Serving | undefined,
  ): Promise<Serving | undefined> {
    const { isFirst, filesOf, status } = scenarios[scenario];
    const serving = isFirst ? undefined : (left ?? (await newServing()));
    const project: FaultyProject = serving?.project ?? (await service.newProject());
    const before = serving?.text ?? null;
    const text = `new: ${name}`;
    project.calls.clear();
    project.faults = ({ service: name, operation: called }, index) =>
      `${name}.${called}` === operation && index >= from && index < from + count ? fault : undefined;
    const check = await holdsInvariants(service, project, before);
    const released = join(folder, project.id);
    rmSync(released, { force: true });
    const build = await (filesOf === null
      ? service.rebuild(project)
      : service.deploy(project, filesOf(text, released)));
    project.faults = undefined;
    const mayFail = fault.kind === "refused" && !readAgain.includes(operation);
    expect(mayFail ? [status, "error"] : [status]).toContain(build.status);
    // A good version that is taken back after the traffic has moved has served for a moment.
    const takenBack = mayFail && status === "ready" ? text : undefined;
    const after = build.status === "ready" && filesOf !== null ? text : before;
    await check(build, after, takenBack);
    // A fault that meets no call would prove nothing.
    if (from === 0) expect(project.calls.get(operation)).toBeGreaterThan(0);
    const definitions = filesOf === releases ? 2 : 1;
    expect(project.calls.get("ECS.RegisterTaskDefinition") ?? 0).toBeLessThanOrEqual(count + 1 + definitions);
    if (definitions === 2 && build.status === "ready") expect(readFileSync(released, "utf8")).toMatch(/^\d+\n$/);
    return after === null ? left : { project, text: after };
  }

  test.each(part.map((one) => [one.name, one] as const))("%s", { timeout: 240_000 }, async (_, one) => {
    await outcomes.get(one)?.promise;
  });

  test("a deleted project's app is stopped after the response if ECS does not stop it at once", async () => {
    const project = await service.newProject();
    expect(await service.deploy(project, says("old"))).toMatchObject({ status: "ready" });
    const url = await address(project);
    project.calls.clear();
    // More calls than the request makes, so that the first attempt of the removal fails as well.
    project.faults = ({ operation }, index) =>
      operation === "DeleteService" && index < burst ? { kind: "failed" } : undefined;
    expect((await project.call("DELETE", `${project.project}?confirm=Another`)).status).toBe(200);
    await expect.poll(() => textAt(url), { timeout: 60_000 }).toBeNull();
    expect(project.calls.get("ECS.DeleteService")).toBeGreaterThan(burst);
  });
});
