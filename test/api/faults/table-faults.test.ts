import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { begin, finished, nodeApp } from "../../harness/app.ts";
import type { Answer, Running } from "../../harness/service.ts";
import { type Guarded, startGuarded } from "./guarded-service.ts";
import type { Fault, TableCall } from "./table-gate.ts";

/** What DynamoDB answers on a bad day, and the operations that can be answered so. */
const faults: [string, Fault, RegExp][] = [
  ["a transaction conflict", { kind: "conflict" }, /^TransactWriteItems$/],
  ["unprocessed keys", { kind: "unprocessed" }, /^BatchGetItem$/],
  ["throttling", { kind: "refuse", name: "ThrottlingException", status: 400 }, /./],
  ["exceeded throughput", { kind: "refuse", name: "ProvisionedThroughputExceededException", status: 400 }, /./],
  ["a fault of its own", { kind: "refuse", name: "InternalServerError", status: 500 }, /./],
  ["an answer that is lost", { kind: "lose" }, /./],
];

interface Scenario {
  /** Brings the project to where the request means something; gives the request. */
  prepare(project: Running): Promise<{ method: string; path: string; body?: object }>;
  success: number;
}

const environments = (project: Running) => `${project.project}/environments`;
async function aVariable(project: Running): Promise<string> {
  const name = `VAR_${Math.random().toString(36).slice(2)}`;
  const made = await project.call("POST", environments(project), { body: { name, value: "old" } });
  return `${environments(project)}/${made.body.environment.id}`;
}
async function aBuild(project: Running): Promise<string> {
  const made = await project.call("POST", `${project.project}/builds`);
  return `${project.project}/builds/${made.body.build.id}`;
}
const at = async (method: string, path: string, body?: object) => ({ method, path, ...(body && { body }) });

const scenarios: Record<string, Scenario> = {
  "create-build": { prepare: (project) => at("POST", `${project.project}/builds`), success: 201 },
  "cancel-build": { prepare: async (project) => at("POST", `${await aBuild(project)}/cancel`), success: 200 },
  "get-build": { prepare: async (project) => at("GET", await aBuild(project)), success: 200 },
  "list-builds": { prepare: (project) => at("GET", `${project.project}/builds`), success: 200 },
  "create-credential": { prepare: (project) => at("POST", `${project.project}/credentials`), success: 201 },
  "list-credentials": { prepare: (project) => at("GET", `${project.project}/credentials`), success: 200 },
  "delete-credential": {
    async prepare(project) {
      const made = await project.call("POST", `${project.project}/credentials`);
      return at("DELETE", `${project.project}/credentials/${made.body.credential.id}`);
    },
    success: 200,
  },
  "create-environment": {
    prepare: (project) => at("POST", environments(project), { name: `NEW_${Math.random().toString(36).slice(2)}`, value: "x" }),
    success: 201,
  },
  "update-environment": {
    prepare: async (project) => at("PUT", await aVariable(project), { name: `TO_${Math.random().toString(36).slice(2)}` }),
    success: 200,
  },
  "delete-environment": { prepare: async (project) => at("DELETE", await aVariable(project)), success: 200 },
  "list-environments": { prepare: (project) => at("GET", environments(project)), success: 200 },
  "create-session": { prepare: () => at("POST", "/sessions"), success: 201 },
  "list-organizations": { prepare: () => at("GET", "/organizations"), success: 200 },
};

/** Deployed once; what rebuild and redeploy start from. */
const deployedScenarios: Record<string, Scenario> = {
  rebuild: { prepare: (project) => at("POST", `${project.project}/rebuild`), success: 201 },
  "redeploy-build": {
    async prepare(project) {
      const { body } = await project.call("GET", `${project.project}/builds`);
      const target = body.builds.find((one: { canRedeploy: boolean }) => one.canRedeploy);
      return at("POST", `${project.project}/builds/${target.id}/redeploy`);
    },
    success: 201,
  },
};

describe("DynamoDB on a bad day", () => {
  let guarded: Guarded;
  let deployed: Running;

  beforeAll(async () => {
    guarded = await startGuarded();
    deployed = await guarded.newProject();
    for (const text of ["one", "two"]) {
      const id = await begin(deployed, nodeApp(`res.end("${text}")`));
      expect((await finished(deployed, id)).status).toBe("ready");
    }
  }, 60_000);
  afterAll(() => guarded.stop());

  /** Frees the project through the API alone, as a client would, and leaves no key behind. */
  async function settle(project: Running): Promise<void> {
    const { body } = await project.call("GET", `${project.project}/builds?limit=5`);
    for (const { id } of body.builds) {
      const canceled = await project.call("POST", `${project.project}/builds/${id}/cancel`);
      // A copied build may be past canceling: it then has to end by itself.
      if (canceled.body.code === "build_deploying") await finished(project, id);
      else expect([200, 409]).toContain(canceled.status);
    }
    const again = await project.call("POST", `${project.project}/builds`);
    expect(again.status).toBe(201);
    expect((await project.call("POST", `${project.project}/builds/${again.body.build.id}/cancel`)).status).toBe(200);
    const { body: held } = await project.call("GET", `${project.project}/credentials`);
    for (const { id } of held.credentials) await project.call("DELETE", `${project.project}/credentials/${id}`);
  }

  /** The request with the calls chosen by `hit` failing; calls of the pipeline count too while it runs. */
  async function underFault(
    request: { method: string; path: string; body?: object },
    project: Running,
    hit: (index: number) => boolean,
    fault: Fault,
    able: RegExp,
  ): Promise<{ answer: Answer; calls: number; hits: number }> {
    let calls = 0;
    let hits = 0;
    guarded.gate.before = ({ operation }: TableCall) => {
      if (operation === "UpdateItem") return undefined;
      const index = calls;
      calls += 1;
      if (!hit(index) || !able.test(operation)) return undefined;
      hits += 1;
      return fault;
    };
    const answer = await project.call(request.method, request.path, request.body ? { body: request.body } : {});
    guarded.gate.before = undefined;
    return { answer, calls, hits };
  }

  const every = Object.entries({ ...scenarios, ...deployedScenarios });
  describe.each(every)("%s", (id, scenario) => {
    test.each(faults)("under %s once, answers as if nothing had happened", { timeout: 60_000 }, async (_, fault, able) => {
      const project = id in deployedScenarios ? deployed : await guarded.newProject();
      for (let index = 0, calls = 1; index < calls; index += 1) {
        const request = await scenario.prepare(project);
        const seen = await underFault(request, project, (one) => one === index, fault, able);
        expect(seen.answer).toMatchObject({ status: scenario.success });
        expect(await guarded.broken()).toEqual([]);
        await settle(project);
        calls = seen.calls - seen.hits;
      }
    });

    test.each(faults)("under %s that does not end, answers 503 and leaves nothing half-made", { timeout: 60_000 }, async (_, fault, able) => {
      const project = id in deployedScenarios ? deployed : await guarded.newProject();
      for (let from = 0, more = true; more; from += 1) {
        const request = await scenario.prepare(project);
        const seen = await underFault(request, project, (one) => one >= from, fault, able);
        more = seen.hits > 0;
        if (!more) break;
        expect([503, scenario.success]).toContain(seen.answer.status);
        if (seen.answer.status === 503) expect(seen.answer.headers.get("retry-after")).toMatch(/^\d+$/);
        await sleep(20);
        expect(await guarded.broken()).toEqual([]);
        await settle(project);
        expect(await guarded.broken()).toEqual([]);
      }
    });
  });
});
