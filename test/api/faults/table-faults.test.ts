import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RouteId } from "../../../api/index.ts";
import { begin, finished, nodeApp } from "../../harness/app.ts";
import type { Answer, Running } from "../../harness/service.ts";
import { type Guarded, startGuarded } from "./guarded-service.ts";
import type { Fault } from "./table-gate.ts";

/** Error responses of DynamoDB, and the operations that can receive them. */
const faults: [string, Fault, RegExp][] = [
  ["a transaction conflict", { kind: "conflict" }, /^TransactWriteItems$/],
  ["unprocessed keys", { kind: "unprocessed" }, /^BatchGetItem$/],
  ["throttling", { kind: "refuse", name: "ProvisionedThroughputExceededException", status: 400 }, /./],
  ["a fault of its own", { kind: "refuse", name: "InternalServerError", status: 500 }, /./],
  ["an answer that is lost", { kind: "lose" }, /./],
];

/** SLIPWAY_TESTS=all lets every fault last; otherwise one of them for each scenario, in turn. */
function lasting(of: object, scenario: string): typeof faults {
  if (process.env.SLIPWAY_TESTS === "all") return faults;
  const turn = Object.keys(of).indexOf(scenario);
  return faults.filter((_, index) => index === turn % faults.length);
}

interface Request {
  method: string;
  path: string;
  body?: object;
}
interface Scenario {
  /** Prepares the project for the request; returns the request. A GET changes nothing, so it is prepared once. */
  prepare(project: Running): Promise<Request>;
  success: number;
  /** State that a request may leave, to be removed before the next one. */
  leaves?: "builds" | "keys" | "domains";
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

const files = (project: Running) =>
  `/organizations/${project.seed.organizationId}/storages/${project.seed.storageId}/files`;
const aFile = { files: [{ name: "a", mime: "text/plain" }] };
async function aStoredFile(project: Running): Promise<string> {
  const made = await project.call("POST", files(project), { body: aFile });
  return `${files(project)}/${made.body.files[0].id}`;
}

const scenarios = {
  ping: { prepare: () => at("GET", "/ping"), success: 200 },
  "list-endpoints": { prepare: (project) => at("GET", `${project.project}/endpoints`), success: 200 },
  "get-metrics": { prepare: async (project) => at("GET", `${project.project}/metrics`), success: 200 },
  "list-app-logs": { prepare: async (project) => at("GET", `${project.project}/logs`), success: 200 },
  "list-build-logs": { prepare: async (project) => at("GET", `${await aBuild(project)}/logs`), success: 200 },
  "list-storages": {
    prepare: (project) => at("GET", `/organizations/${project.seed.organizationId}/storages`),
    success: 200,
  },
  "list-files": { prepare: (project) => at("GET", files(project)), success: 200 },
  "create-files": { prepare: (project) => at("POST", files(project), aFile), success: 201 },
  "get-file": { prepare: async (project) => at("GET", await aStoredFile(project)), success: 200 },
  "delete-file": { prepare: async (project) => at("DELETE", await aStoredFile(project)), success: 200 },
  "create-build": { prepare: (project) => at("POST", `${project.project}/builds`), success: 201, leaves: "builds" },
  "cancel-build": {
    prepare: async (project) => at("POST", `${await aBuild(project)}/cancel`),
    success: 200,
    leaves: "builds",
  },
  "get-build": { prepare: async (project) => at("GET", await aBuild(project)), success: 200 },
  "list-builds": { prepare: (project) => at("GET", `${project.project}/builds`), success: 200 },
  "create-credential": {
    prepare: (project) => at("POST", `${project.project}/credentials`),
    success: 201,
    leaves: "keys",
  },
  "list-credentials": { prepare: (project) => at("GET", `${project.project}/credentials`), success: 200 },
  "delete-credential": {
    async prepare(project) {
      const made = await project.call("POST", `${project.project}/credentials`);
      return at("DELETE", `${project.project}/credentials/${made.body.credential.id}`);
    },
    success: 200,
    leaves: "keys",
  },
  "create-environment": {
    prepare: (project) =>
      at("POST", environments(project), { name: `NEW_${Math.random().toString(36).slice(2)}`, value: "x" }),
    success: 201,
  },
  "update-environment": {
    prepare: async (project) =>
      at("PUT", await aVariable(project), { name: `TO_${Math.random().toString(36).slice(2)}` }),
    success: 200,
  },
  "delete-environment": { prepare: async (project) => at("DELETE", await aVariable(project)), success: 200 },
  "list-environments": { prepare: (project) => at("GET", environments(project)), success: 200 },
  "create-session": { prepare: () => at("POST", "/sessions"), success: 201 },
  "list-organizations": { prepare: () => at("GET", "/organizations"), success: 200 },
  "list-events": {
    prepare: (project) => at("GET", `/organizations/${project.seed.organizationId}/events`),
    success: 200,
  },
  "create-project": {
    prepare: (project) => at("POST", `/organizations/${project.seed.organizationId}/projects`, { name: "New" }),
    success: 201,
  },
  "update-project": { prepare: (project) => at("PUT", project.project, { settings: { instances: 2 } }), success: 200 },
  "create-domain": {
    prepare: (project) =>
      at("POST", `${project.project}/domains`, { domain: `${Math.random().toString(36).slice(2)}.example.com` }),
    success: 201,
    leaves: "domains",
  },
} satisfies Partial<Record<RouteId, Scenario>>;

/** Requests that need a deployed version. */
const deployedScenarios = {
  rebuild: { prepare: (project) => at("POST", `${project.project}/rebuild`), success: 201, leaves: "builds" },
  "redeploy-build": {
    async prepare(project) {
      for (let cursor = ""; ; ) {
        const { body } = await project.call("GET", `${project.project}/builds?limit=100${cursor}`);
        const target = body.builds.find((one: { canRedeploy: boolean }) => one.canRedeploy);
        if (target) return at("POST", `${project.project}/builds/${target.id}/redeploy`);
        cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
      }
    },
    success: 201,
    leaves: "builds",
  },
} satisfies Partial<Record<RouteId, Scenario>>;

/**
 * Their only call to the table before their own work in PostgreSQL is the one read that proves the caller, as in `ping`.
 * Around a change of a table stand the two updates of its event, whose faults are in `test/api/events.test.ts`.
 */
const provedOnly = {
  "list-tables": "ping",
  "create-table": "ping",
  "update-table": "ping",
  "delete-table": "ping",
  "list-rows": "ping",
  "create-row": "ping",
  "get-row": "ping",
  "update-row": "ping",
  "delete-row": "ping",
} as const;
/** Their calls to the table, and what they do with a refusal, are those of the route named beside them. */
const sameShape = {
  "delete-project": "update-project",
  "delete-database": "update-project",
  "delete-storage": "delete-environment",
  "list-members": "list-storages",
  "create-member": "update-project",
  "update-member": "update-project",
  "delete-member": "update-project",
  "get-me": "list-organizations",
  "get-organization": "ping",
  "update-organization": "update-project",
  "create-organization": "update-project",
  "list-tokens": "list-storages",
  "create-console-session": "update-project",
  "get-console-session": "ping",
  "delete-console-session": "create-session",
  "list-console-sessions": "list-storages",
  "begin-passkey": "create-environment",
  "create-passkey": "update-project",
  "begin-passkey-sign-in": "create-session",
  "sign-in-with-passkey": "update-project",
  "create-connection-code": "update-project",
  "connect-tool": "update-project",
  "list-passkeys": "list-storages",
  "delete-passkey": "delete-environment",
  "end-console-session": "delete-environment",
  "delete-console-sessions": "delete-environment",
  "create-token": "update-project",
  "delete-token": "delete-environment",
  "list-projects": "list-storages",
  "get-project": "ping",
  "set-managers": "update-project",
  "list-domains": "ping",
  "delete-domain": "create-domain",
  "list-databases": "list-storages",
  "create-database": "create-project",
  "update-database": "update-project",
  "create-storage": "create-project",
  "update-storage": "update-project",
} as const satisfies Partial<Record<RouteId, keyof typeof scenarios>>;
/** A new route without its scenario does not compile. */
({ ...scenarios, ...deployedScenarios, ...provedOnly, ...sameShape }) satisfies Record<RouteId, Scenario | string>;

/** The calls of one project's request, by their order among those that can receive the fault, that meet it. */
interface Rule {
  project: Running;
  fault: Fault;
  able: RegExp;
  hit: (index: number) => boolean;
  calls: number;
  hits: number;
}

describe("DynamoDB calls that fail", () => {
  let guarded: Guarded;
  const rules = new Set<Rule>();
  /** The GET of each project that has one. */
  const reads = new Map<Running, Request>();
  const silent = new Map<Running, () => Promise<undefined> | undefined>();

  beforeAll(async () => {
    guarded = await startGuarded();
    guarded.gate.before = (call) => {
      for (const [project, wait] of silent) if (guarded.concerns(project, call)) return wait();
      const rule = [...rules].find(({ project }) => guarded.concerns(project, call));
      if (!rule || call.operation === "UpdateItem" || !rule.able.test(call.operation)) return undefined;
      const index = rule.calls;
      rule.calls += 1;
      if (!rule.hit(index)) return undefined;
      rule.hits += 1;
      return rule.fault;
    };
  });
  afterAll(async () => {
    expect(await guarded.broken()).toEqual([]);
    await guarded.stop();
  });

  /** Frees the project through the API alone, as a client would. */
  async function freeBuilds(project: Running): Promise<void> {
    // The project's lock allows one build to run, the newest.
    const { body } = await project.call("GET", `${project.project}/builds?limit=1`);
    for (const { id } of body.builds) {
      const canceled = await project.call("POST", `${project.project}/builds/${id}/cancel`);
      // A copied build may no longer be cancelable: the test then waits for its end.
      if (canceled.body.code === "build_deploying") await finished(project, id);
      else expect([200, 409]).toContain(canceled.status);
    }
    const again = await project.call("POST", `${project.project}/builds`);
    expect(again.status).toBe(201);
    expect((await project.call("POST", `${project.project}/builds/${again.body.build.id}/cancel`)).status).toBe(200);
  }

  async function clear({ leaves }: Scenario, project: Running): Promise<void> {
    if (leaves === "builds") await freeBuilds(project);
    if (leaves === "domains") {
      const { body } = await project.call("GET", `${project.project}/domains`);
      for (const { domain } of body.domains) await project.call("DELETE", `${project.project}/domains/${domain}`);
    }
    if (leaves !== "keys") return;
    const { body } = await project.call("GET", `${project.project}/credentials`);
    for (const { id } of body.credentials) await project.call("DELETE", `${project.project}/credentials/${id}`);
  }

  /** The request while its project's calls chosen by `hit` fail; those of a build that has begun are among them. */
  async function underFault(
    scenario: Scenario,
    rule: Omit<Rule, "calls" | "hits">,
  ): Promise<Rule & { answer: Answer }> {
    const { project } = rule;
    const request = reads.get(project) ?? (await scenario.prepare(project));
    const { method, path, body } = request;
    if (method === "GET") reads.set(project, request);
    const active: Rule = { ...rule, calls: 0, hits: 0 };
    rules.add(active);
    try {
      const answer = await project.call(method, path, body ? { body } : {});
      return { ...active, answer };
    } finally {
      rules.delete(active);
    }
  }

  async function once(scenario: Scenario, project: Running, fault: Fault, able: RegExp): Promise<void> {
    for (let index = 0, calls = 1; index < calls; index += 1) {
      const seen = await underFault(scenario, { project, fault, able, hit: (one) => one === index });
      expect(seen.answer).toMatchObject({ status: scenario.success });
      expect(await guarded.broken(project)).toEqual([]);
      await clear(scenario, project);
      calls = seen.calls - seen.hits;
    }
  }

  async function endless(scenario: Scenario, project: Running, fault: Fault, able: RegExp): Promise<void> {
    for (let from = 0; ; from += 1) {
      const { answer, hits } = await underFault(scenario, { project, fault, able, hit: (one) => one >= from });
      expect([503, scenario.success]).toContain(answer.status);
      if (answer.status === 503) expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      expect(await guarded.broken(project)).toEqual([]);
      if (scenario.leaves !== undefined) {
        await clear(scenario, project);
        expect(await guarded.broken(project)).toEqual([]);
      }
      if (hits === 0) return;
    }
  }

  describe.concurrent("a call that is never answered", () => {
    const never: Promise<undefined> = new Promise(() => {});

    test("is given up and made again: the request succeeds, once", { timeout: 30_000 }, async () => {
      const project = await guarded.newProject();
      let held = 0;
      silent.set(project, () => {
        held += 1;
        return held === 1 ? never : undefined;
      });
      const created = await project.call("POST", `${project.project}/builds`);
      silent.delete(project);
      expect(created.status).toBe(201);
      expect(held).toBeGreaterThan(1);
      expect((await project.call("POST", `${project.project}/builds`)).body.build.id).toBe(created.body.build.id);
      expect(await guarded.broken(project)).toEqual([]);
    });

    test("again and again is a 503 before the gateway gives up after 29 s", { timeout: 60_000 }, async () => {
      const project = await guarded.newProject();
      let held = 0;
      silent.set(project, () => {
        held += 1;
        return never;
      });
      const answer = await project.call("POST", `${project.project}/builds`);
      silent.delete(project);
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      // One call, of which each attempt waits 3 s; fewer than four after many faults, because the SDK has a quota of retries.
      expect(held).toBeLessThanOrEqual(4);
      expect(held).toBeGreaterThan(0);
      expect(await guarded.broken(project)).toEqual([]);
    });
  });

  // The scenarios run at the same time, each with one project, on which its tests run one after the other.
  describe.concurrent.each(Object.entries<Scenario>(scenarios))("%s", (name, scenario) => {
    let project: Running;
    beforeAll(async () => {
      project = await guarded.newProject();
    }, 60_000);

    test.each(faults)(
      "under %s once, answers as if nothing had happened",
      { concurrent: false, timeout: 60_000 },
      async (__, fault, able) => once(scenario, project, fault, able),
    );
    test.each(lasting(scenarios, name))(
      "under %s without end, answers 503 and leaves nothing half-made",
      { concurrent: false, timeout: 60_000 },
      async (__, fault, able) => endless(scenario, project, fault, able),
    );
  });

  describe.concurrent.each(Object.entries<Scenario>(deployedScenarios))("%s", (name, scenario) => {
    let deployed: Running;
    beforeAll(async () => {
      deployed = await guarded.newProject();
      // Only an earlier build can be deployed again.
      for (const text of name === "redeploy-build" ? ["one", "two"] : ["one"]) {
        const id = await begin(deployed, nodeApp(`res.end("${text}")`));
        expect((await finished(deployed, id)).status).toBe("ready");
      }
    }, 60_000);

    test.each(faults)(
      "under %s once, answers as if nothing had happened",
      { concurrent: false, timeout: 60_000 },
      async (__, fault, able) => once(scenario, deployed, fault, able),
    );
    test.each(lasting(deployedScenarios, name))(
      "under %s without end, answers 503 and leaves nothing half-made",
      { concurrent: false, timeout: 60_000 },
      async (__, fault, able) => endless(scenario, deployed, fault, able),
    );
  });
});
