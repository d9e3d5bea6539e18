import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Guarded, startGuarded } from "../../api/faults/guarded-service.ts";
import type { Fault } from "../../api/faults/table-gate.ts";
import { address, finished, nodeApp, upload, zipOf } from "../../harness/app.ts";
import type { Running } from "../../harness/service.ts";

/** SLIPWAY_TESTS=all makes every single call fail; otherwise every eighth, with a different first call for each fault. */
const everyCall = process.env.SLIPWAY_TESTS === "all";
const stride = everyCall ? 1 : 8;

const faults: [string, Fault, RegExp][] = [
  ["transaction conflicts", { kind: "conflict" }, /^TransactWriteItems$/],
  ["unprocessed keys", { kind: "unprocessed" }, /^BatchGetItem$/],
  ["throttling", { kind: "refuse", name: "ThrottlingException", status: 400 }, /./],
  ["faults of DynamoDB", { kind: "refuse", name: "InternalServerError", status: 500 }, /./],
  ["lost answers", { kind: "lose" }, /./],
];
/** More consecutive failures than the SDK and the service retry, so that the step fails and is retried. */
const burst = 9;

const says = (text: string) => nodeApp(`res.end(${JSON.stringify(text)})`);
const crashes = nodeApp("", "process.exit(1);");

interface Rule {
  project: Running;
  fault: Fault;
  able: RegExp;
  from: number;
  count: number;
  calls: number;
  hits: number;
}

describe("a deployment while DynamoDB fails", () => {
  let guarded: Guarded;
  const rules = new Set<Rule>();
  const projects = new Set<Running>();
  const torn: string[] = [];

  beforeAll(async () => {
    guarded = await startGuarded();
    guarded.gate.before = (call) => {
      const rule = [...rules].find(({ project }) => guarded.concerns(project, call));
      // Calls for API requests contain the client's key; all others are made by the pipeline.
      if (!rule || call.body.includes(rule.project.seed.accessKey) || !rule.able.test(call.operation)) return undefined;
      const index = rule.calls;
      rule.calls += 1;
      if (index < rule.from || index >= rule.from + rule.count) return undefined;
      rule.hits += 1;
      return rule.fault;
    };
    guarded.gate.after = async (call) => {
      if (call.operation !== "TransactWriteItems") return;
      const changed = [...projects].filter((project) => guarded.concerns(project, call));
      for (const project of changed) torn.push(...(await guarded.broken(project)));
    };
  }, 60_000);
  afterAll(() => guarded.stop());

  /** Runs one deployment whose pipeline has the fault from call number `from` on. */
  async function deployUnder(rule: Omit<Rule, "calls" | "hits">, files: Record<string, string | Buffer>) {
    const active: Rule = { ...rule, calls: 0, hits: 0 };
    const { project } = rule;
    rules.add(active);
    const created = await project.call("POST", `${project.project}/builds`);
    expect(created.status).toBe(201);
    expect((await upload(created.body.url, await zipOf(files))).status).toBe(200);
    const build = await finished(project, created.body.build.id);
    rules.delete(active);
    return { build, hits: active.hits, calls: active.calls - active.hits };
  }

  async function newProject(): Promise<Running> {
    const project = await guarded.newProject();
    projects.add(project);
    return project;
  }

  async function isWhole(project: Running, live: string): Promise<void> {
    expect(torn).toEqual([]);
    expect(await guarded.broken(project)).toEqual([]);
    expect(await (await fetch(await address(project))).text()).toBe(live);
    const { body } = await project.call("GET", `${project.project}/builds?limit=100`);
    const serving = body.builds.filter(({ isLive }: { isLive: boolean }) => isLive);
    expect(serving).toHaveLength(1);
    expect(serving[0].status).toBe("ready");
    const next = await project.call("POST", `${project.project}/builds`);
    expect(next.status).toBe(201);
    await project.call("POST", `${project.project}/builds/${next.body.build.id}/cancel`);
  }

  describe.concurrent.each(faults)("with %s", (name, fault, able) => {
    const first = everyCall ? 0 : faults.findIndex(([one]) => one === name) % stride;

    test("at any single call, becomes ready; in bursts from any call on, ends as ready or error and leaves no broken rows", {
      timeout: 300_000,
    }, async () => {
      const project = await newProject();
      let live = "";
      for (let from = first, calls = from + 1; from < calls; from += stride) {
        const seen = await deployUnder({ project, fault, able, from, count: 1 }, says(`at ${from}`));
        if (seen.hits === 0) break;
        calls = seen.calls;
        const { build } = seen;
        expect(build).toMatchObject({ status: "ready", error: null, isLive: true });
        live = `at ${from}`;
        await isWhole(project, live);
      }
      expect(live).not.toBe("");
      for (let from = first, hits = 1; hits > 0; from += stride * 2) {
        const good = from % 2 === 0;
        const seen = await deployUnder(
          { project, fault, able, from, count: burst },
          good ? says(`from ${from}`) : crashes,
        );
        hits = seen.hits;
        expect(["ready", "error"]).toContain(seen.build.status);
        if (!good) expect(seen.build.status).toBe("error");
        if (seen.build.status === "ready") live = `from ${from}`;
        await isWhole(project, live);
      }
    });
  });
});
