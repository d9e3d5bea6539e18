import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { SFNClient, StopExecutionCommand } from "@aws-sdk/client-sfn";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallFault } from "../../../local/aws/call-faults.ts";
import { type Behavior, cloud } from "../../../local/behavior.ts";
import { stateMachineArn } from "../../../local/names.ts";
import { finished, nodeApp, uploadPatiently, zipOf } from "../../harness/app.ts";
import { fc } from "../../harness/fast-check.ts";
import type { Answer } from "../../harness/service.ts";
import { runtimeOf } from "../../harness/signing.ts";
import {
  type FaultyProject,
  type FaultyService,
  holdsInvariants,
  type ProjectFaults,
  startFaulty,
} from "./faulty-projects.ts";

/** SLIPWAY_TESTS=all runs many scenarios; otherwise three projects with other delays and faults keep the test short enough for CI. */
const runs = process.env.SLIPWAY_TESTS === "all" ? 25 : 1;
const healthTimeoutSeconds = 6;

const says = (text: string) => nodeApp(`res.end(${JSON.stringify(text)})`);
const exits = nodeApp("", "console.log('no luck'); process.exit(3);");
const answers500 = nodeApp("res.statusCode = 500; res.end('bad')");

const action = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: "good" } as const) },
  { weight: 2, arbitrary: fc.constant({ kind: "exits" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "answers 500" } as const) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("cancel" as const), afterMs: fc.integer({ min: 0, max: 2_500 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("abort" as const), afterMs: fc.integer({ min: 0, max: 4_000 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "rebuild" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "redeploy" } as const) },
);
type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
type Action = ValueOf<typeof action>;

/** How many of 100 calls have each fault. */
const rates = fc.record({
  throttled: fc.integer({ min: 0, max: 8 }),
  failed: fc.integer({ min: 0, max: 6 }),
  conflict: fc.integer({ min: 0, max: 6 }),
  lost: fc.integer({ min: 0, max: 6 }),
  late: fc.integer({ min: 0, max: 6 }),
  stale: fc.integer({ min: 0, max: 30 }),
});
/** A fault of every call of one operation for a while: more calls than one invocation of a step makes. */
const burst = fc.record({
  operation: fc.constantFrom(
    "DescribeServices",
    "ListServiceDeployments",
    "DescribeServiceDeployments",
    "DescribeServiceRevisions",
    "UpdateService",
    "DeleteService",
    "ContinueServiceDeployment",
    "StopServiceDeployment",
    "ListTasks",
    "BatchGetItem",
    "TransactWriteItems",
  ),
  kind: fc.constantFrom("throttled" as const, "failed" as const, "stale" as const),
  from: fc.integer({ min: 0, max: 6 }),
  count: fc.integer({ min: 1, max: 9 }),
});
const plan = fc.record({
  seed: fc.nat(),
  rates,
  bursts: fc.array(burst, { maxLength: 2 }),
  actions: fc.array(action, { minLength: 1, maxLength: 3 }),
});
type Plan = ValueOf<typeof plan>;

const delays = fc.record({
  placementMs: fc.integer({ min: 0, max: 200 }),
  registrationMs: fc.integer({ min: 0, max: 200 }),
  stageMs: fc.integer({ min: 0, max: 100 }),
  firstServiceMs: fc.integer({ min: 0, max: 500 }),
  drainMs: fc.integer({ min: 0, max: 1_000 }),
  staleMs: fc.integer({ min: 0, max: 800 }),
  deletionMs: fc.integer({ min: 0, max: 800 }),
});

/** The faults of a plan: the same call of the same project always has the same one. */
function faultsOf({ seed, rates: drawn, bursts }: Plan): ProjectFaults {
  return ({ service, operation }, index) => {
    const met = bursts.find((one) => one.operation === operation && index >= one.from && index < one.from + one.count);
    if (met) return { kind: met.kind };
    const text = `${seed} ${service}.${operation} ${index}`;
    let left = createHash("sha256").update(text).digest().readUInt32BE() % 100;
    for (const [kind, rate] of Object.entries(drawn)) {
      if (left < rate) return kind === "late" ? { kind, ms: 300 } : ({ kind } as CallFault);
      left -= rate;
    }
    return undefined;
  };
}

describe("with random faults of AWS", () => {
  const behavior: Behavior = {
    ...cloud(),
    ecs: { ...cloud().ecs },
    s3: { deliveriesMs: (id) => [Number.parseInt(id.slice(0, 2), 16), 300] },
    stepFunctions: { deliveriesMs: () => [50, 150] },
    codeBuild: { concurrentBuilds: 3, queuedBuilds: 15, provisioningMs: 30, statusMs: 50 },
    faults: undefined,
  };
  let service: FaultyService;
  let machines: SFNClient;
  beforeAll(async () => {
    service = await startFaulty(behavior, { healthTimeoutSeconds });
    machines = new SFNClient({ ...runtimeOf(service.guarded.running.home), region: "us-east-1" });
  });
  afterAll(async () => {
    machines.destroy();
    await service.stop();
  });

  async function canceled(project: FaultyProject, text: string, afterMs: number): Promise<Answer["body"]> {
    const created = await service.create(project);
    expect(created.status).toBe(201);
    const { id } = created.body.build;
    service.owns(project, id);
    await uploadPatiently(created.body.url, await zipOf(says(text)));
    await sleep(afterMs);
    await project.call("POST", `${project.project}/builds/${id}/cancel`);
    return finished(project, id);
  }

  /** Ends the execution from outside, as a time-out would; its event lets the service end the build. */
  async function aborted(project: FaultyProject, text: string, afterMs: number): Promise<Answer["body"]> {
    const created = await service.create(project);
    expect(created.status).toBe(201);
    const { id } = created.body.build;
    service.owns(project, id);
    await uploadPatiently(created.body.url, await zipOf(says(text)));
    await sleep(afterMs);
    const executionArn = `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${id}`;
    await machines.send(new StopExecutionCommand({ executionArn }));
    return finished(project, id);
  }

  async function again(project: FaultyProject, path: string): Promise<Answer["body"] | undefined> {
    let created = await project.call("POST", `${project.project}${path}`);
    // The service could not read what is deployed.
    while (created.status === 503) {
      expect(created.headers.get("retry-after")).toMatch(/^\d+$/);
      created = await project.call("POST", `${project.project}${path}`);
    }
    if (created.status !== 201) {
      expect(created.status).toBe(409);
      return undefined;
    }
    service.owns(project, created.body.build.id);
    return finished(project, created.body.build.id);
  }

  /** Does one action; returns its build, and what a build that becomes ready answers. */
  async function act(
    project: FaultyProject,
    done: Action,
    text: string,
    { serving, texts }: { serving: string | null; texts: Map<string, string> },
  ) {
    switch (done.kind) {
      case "good":
        return { build: await service.deploy(project, says(text)), text, ends: ["ready"] };
      case "exits":
        return { build: await service.deploy(project, exits), text, ends: ["error"] };
      case "answers 500":
        return { build: await service.deploy(project, answers500), text, ends: ["error"] };
      case "cancel":
        return { build: await canceled(project, text, done.afterMs), text, ends: ["ready", "canceled"] };
      case "abort":
        return { build: await aborted(project, text, done.afterMs), text, ends: ["ready", "error"] };
      case "rebuild":
      case "redeploy": {
        const { body } = await project.call("GET", `${project.project}/builds?limit=100`);
        const source = body.builds.find(({ canRedeploy }: { canRedeploy: boolean }) => canRedeploy);
        const isRedeploy = done.kind === "redeploy" && source !== undefined;
        const path = isRedeploy ? `/builds/${source.id}/redeploy` : "/rebuild";
        const copied = (isRedeploy ? texts.get(source.id) : serving) ?? "copied from nothing";
        return { build: await again(project, path), text: copied, ends: ["ready"] };
      }
    }
  }

  async function runPlan(one: Plan): Promise<void> {
    const project = await service.newProject();
    const texts = new Map<string, string>();
    let serving: string | null = null;
    for (const [index, done] of one.actions.entries()) {
      const text = `${done.kind} ${index}`;
      const check = await holdsInvariants(service, project, serving);
      project.faults = faultsOf(one);
      const { build, text: copied, ends } = await act(project, done, text, { serving, texts });
      project.faults = undefined;
      if (build) {
        const end = build.canceledAt ? "canceled" : build.status;
        expect(ends, `${done.kind}: ${build.error}`).toContain(end);
        if (end === "ready") {
          serving = copied;
          texts.set(build.id, copied);
        }
      }
      // An execution can end after the traffic has moved and before the build is `ready`.
      await check(build, serving, done.kind === "abort" ? copied : undefined);
    }
  }

  test("builds end correctly, one at a time, and no request to a serving version fails", {
    timeout: 1_200_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        delays,
        fc.array(plan, { minLength: 3, maxLength: 3 }),
        async ({ deletionMs, drainMs, ...drawn }, plans) => {
          Object.assign(behavior.ecs, drawn, { deleted: () => sleep(deletionMs), drained: () => sleep(drainMs) });
          const ended = await Promise.allSettled(plans.map(runPlan));
          const [failed] = ended.filter((one) => one.status === "rejected");
          if (failed) throw failed.reason;
        },
      ),
      { numRuns: runs, endOnFailure: true },
    );
  });
});
