import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTable } from "../../api/faults/guarded-service.ts";
import { brokenRules } from "../../api/faults/invariants.ts";
import type { TableCall } from "../../api/faults/table-gate.ts";
import { nodeApp, upload, zipOf } from "../../harness/app.ts";
import type { Answer } from "../../harness/service.ts";
import { type MortalService, startMortal } from "./mortal-service.ts";

/** SLIPWAY_TESTS=all kills at every write; otherwise at one of them for each scenario, which is short enough for each change. */
const everyWrite = process.env.SLIPWAY_TESTS === "all";
/** Scenarios whose writes are much like those of the others, for SLIPWAY_TESTS=all only. */
const alike = ["a rebuild", "a cancel", "keys and variables"];
/** Longer than a busy machine needs for a start and a removal. */
const settleSeconds = 180;

const says = (text: string) => nodeApp(`res.end(${JSON.stringify(text)})`);
const isWrite = ({ operation }: TableCall) => operation === "TransactWriteItems" || operation === "UpdateItem";

describe("the service killed at a write to its table", () => {
  let table: Awaited<ReturnType<typeof openTable>>;
  let service: MortalService;
  /** The build whose upload was last acknowledged; it must not wait for an upload any more. */
  let uploaded = "";
  /** Each release command adds its own number to this file when it runs. */
  const released = join(mkdtempSync(join(tmpdir(), "released-")), "numbers");
  let releases = 0;

  beforeAll(async () => {
    table = await openTable();
    service = await startMortal(table.gate.endpoint);
    for (const text of ["first", "second"]) expect(await deploy(text)).toMatchObject({ status: "ready", error: null });
    // A service that is killed does not store its compiled modules; the many starts below use these.
    await service.stop();
    await service.start();
  }, 90_000);
  afterAll(async () => {
    await service.remove();
    await table.close();
    rmSync(dirname(released), { recursive: true, force: true });
  });

  const broken = async () => brokenRules(await table.direct.rows());

  /** One deployment from its creation to its end; rejects if the service is killed. */
  async function deploy(text: string, files = says(text)): Promise<Answer["body"]> {
    const created = await service.call("POST", `${service.project}/builds`, { body: { title: text } });
    expect(created.status).toBe(201);
    expect((await upload(created.body.url, await zipOf(files))).status).toBe(200);
    uploaded = created.body.build.id;
    return ended(created.body.build.id);
  }
  async function ended(id: string): Promise<Answer["body"]> {
    for (;;) {
      const { body } = await service.call("GET", `${service.project}/builds/${id}`);
      if (["ready", "error"].includes(body.build.status) || body.build.canceledAt) return body.build;
      await sleep(50);
    }
  }

  const scenarios: Record<string, (turn: number) => Promise<unknown>> = {
    "a good deployment": async (turn) =>
      expect(await deploy(`good ${turn}`)).toMatchObject({ status: "ready", error: null }),
    "a deployment that fails": async (turn) =>
      expect(await deploy(`bad ${turn}`, nodeApp("", "process.exit(7);"))).toMatchObject({ status: "error" }),
    "a release command": async (turn) => {
      releases += 1;
      const releaseCommand = `echo ${releases} >> ${released}`;
      const files = { ...says(`released ${turn}`), "slipway.json": JSON.stringify({ releaseCommand }) };
      expect(await deploy(`released ${turn}`, files)).toMatchObject({ status: "ready", error: null });
    },
    "a rebuild": async () => {
      const created = await service.call("POST", `${service.project}/rebuild`);
      expect(created.status).toBe(201);
      expect(await ended(created.body.build.id)).toMatchObject({ status: "ready", error: null });
    },
    "a cancel": async () => {
      const created = await service.call("POST", `${service.project}/builds`);
      await service.call("POST", `${service.project}/builds/${created.body.build.id}/cancel`);
    },
    "the deletion of a project": async () => {
      const { body } = await service.call("POST", `${organization()}/projects`, { body: { name: "Doomed" } });
      const doomed = `${organization()}/projects/${body.project.id}`;
      await service.call("POST", `${doomed}/environments`, { body: { name: "A", value: "b" } });
      await service.call("POST", `${doomed}/builds`);
      expect((await service.call("DELETE", `${doomed}?confirm=Doomed`)).status).toBe(200);
      while (service.isAlive() && (await rowsOf(body.project.id)).length > 0) await sleep(50);
    },
    "keys and variables": async (turn) => {
      await service.call("POST", `${service.project}/credentials`);
      const made = await service.call("POST", `${service.project}/environments`, {
        body: { name: `V${turn}`, value: "x" },
      });
      const path = `${service.project}/environments/${made.body.environment.id}`;
      await service.call("PUT", path, { body: { name: `W${turn}` } });
      await service.call("DELETE", path);
      const { body } = await service.call("GET", `${service.project}/credentials`);
      for (const { id } of body.credentials) await service.call("DELETE", `${service.project}/credentials/${id}`);
    },
  };

  const organization = () => `/organizations/${service.seed.organizationId}`;
  const rowsOf = async (projectId: string) => (await table.direct.rows()).filter(({ pk }) => pk === `PRJ#${projectId}`);

  /** Resolves when no project has rows but those that are listed. */
  async function removed(): Promise<void> {
    const { projects } = (await service.call("GET", `${organization()}/projects`)).body;
    const listed = new Set(projects.map(({ id }: { id: string }) => `PRJ#${id}`));
    const left = async () => (await table.direct.rows()).filter(({ pk }) => pk.startsWith("PRJ#") && !listed.has(pk));
    for (const until = Date.now() + settleSeconds * 1000; (await left()).length > 0; await sleep(50)) {
      if (Date.now() > until) throw new Error(`Rows of deleted projects are left:\n${service.output()}`);
    }
  }

  /** Every build has ended or waits for its upload, the live version serves, and the project can be used. */
  async function comesBack(): Promise<void> {
    await service.start();
    await removed();
    const until = Date.now() + settleSeconds * 1000;
    for (;;) {
      const { body } = await service.call("GET", `${service.project}/builds?limit=3`);
      const [newest] = body.builds;
      const { body: one } = await service.call("GET", `${service.project}/builds/${newest.id}`);
      if (["ready", "error"].includes(one.build.status) || one.build.canceledAt) break;
      if (one.build.status === "pending" && newest.id !== uploaded && Date.now() > until - (settleSeconds - 4) * 1000) {
        // It waits for an upload that the client never made: it can be canceled, unless it has just gone on.
        const { status } = await service.call("POST", `${service.project}/builds/${newest.id}/cancel`);
        if (status === 200) break;
        expect(status).toBe(409);
      }
      if (Date.now() > until)
        throw new Error(`The build ${newest.id} is still ${one.build.status}:\n${service.output()}`);
      await sleep(100);
    }
    expect(await broken()).toEqual([]);
    const { body: list } = await service.call("GET", `${service.project}/builds?limit=100`);
    const live = list.builds.filter(({ isLive }: { isLive: boolean }) => isLive);
    expect(live).toHaveLength(1);
    expect(live[0].status).toBe("ready");
    const { body: addresses } = await service.call("GET", `${service.project}/endpoints`);
    expect(await (await fetch(addresses.endpoints[0])).text()).toBe(live[0].title);
    const next = await service.call("POST", `${service.project}/builds`);
    expect(next.status).toBe(201);
    expect((await service.call("POST", `${service.project}/builds/${next.body.build.id}/cancel`)).status).toBe(200);
    expect(await broken()).toEqual([]);
  }

  /** Runs a scenario and kills the service at its write number `at`; returns the number of writes. */
  async function killedAt(
    run: (turn: number) => Promise<unknown>,
    at: number,
    moment: "answered" | "unanswered",
  ): Promise<number> {
    let writes = 0;
    const count = (call: TableCall) => {
      if (!isWrite(call)) return;
      writes += 1;
      if (writes - 1 === at) service.kill();
    };
    if (moment === "answered") table.gate.answered = count;
    else table.gate.after = count;
    await run(at).catch((error: unknown) => {
      if (writes <= at) throw error;
    });
    if (writes > at) await service.gone();
    table.gate.answered = undefined;
    table.gate.after = undefined;
    return writes;
  }

  const chosen = Object.entries(scenarios).filter(([name]) => everyWrite || !alike.includes(name));
  test.each(chosen)("%s", { timeout: 900_000 }, async (name, run) => {
    const total = await killedAt(run, Number.POSITIVE_INFINITY, "answered");
    const all = Array.from({ length: total }, (_, index) => index);
    // A scenario's own write, so that the scenarios together are killed early, in the middle and late.
    const turn = Object.keys(scenarios).indexOf(name) % 3;
    const chosen = everyWrite ? all : [Math.round((turn * (total - 1)) / 2)];
    process.stdout.write(`${name}: ${total} writes, killed at ${chosen.join(", ")}\n`);
    for (const at of chosen) {
      for (const moment of everyWrite
        ? (["unanswered", "answered"] as const)
        : [at % 2 ? ("answered" as const) : ("unanswered" as const)]) {
        await killedAt(run, at, moment);
        if (!service.isAlive()) await comesBack();
      }
    }
    // Later rebuilds run the same command again, each once.
    if (name !== "a release command") return;
    const numbers = existsSync(released) ? readFileSync(released, "utf8").trim().split("\n") : [];
    expect(numbers).toEqual([...new Set(numbers)]);
  });

  test.runIf(everyWrite)(
    "a kill while the release command runs: it is not run again, and the build ends as an error",
    async () => {
      releases += 1;
      const releaseCommand = `echo ${releases} >> ${released}; sleep 60`;
      const files = { ...says("not released"), "slipway.json": JSON.stringify({ releaseCommand }) };
      const deployed = deploy("not released", files).catch(() => undefined);
      const runs = () =>
        existsSync(released)
          ? readFileSync(released, "utf8")
              .split("\n")
              .filter((line) => line === `${releases}`).length
          : 0;
      await expect.poll(runs, { timeout: 60_000 }).toBe(1);
      service.kill();
      await Promise.all([deployed, service.gone()]);
      await comesBack();
      const { body } = await service.call("GET", `${service.project}/builds/${uploaded}`);
      expect(body.build).toMatchObject({ status: "error", error: expect.stringContaining("release command") });
      expect(runs()).toBe(1);
    },
  );

  test("an upload whose event is not delivered before the kill is seen after it, and so is every later one", async () => {
    for (let turn = 0; turn < (everyWrite ? 3 : 1); turn += 1) {
      table.gate.before = (call) => {
        // Only the listener's read of the build; an endpoint's read contains a key as well.
        const isListener =
          call.operation === "BatchGetItem" && call.body.includes("BLD#") && !call.body.includes("KEY#");
        if (isListener) service.kill();
        return undefined;
      };
      await deploy(`heard of late ${turn}`).catch(() => undefined);
      table.gate.before = undefined;
      await service.gone();
      await comesBack();
      expect(await deploy(`heard of at once ${turn}`)).toMatchObject({ status: "ready", error: null });
    }
  });
});
