import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTable } from "../../api/faults/guarded-service.ts";
import { brokenRules } from "../../api/faults/invariants.ts";
import type { TableCall } from "../../api/faults/table-gate.ts";
import { finished, nodeApp, upload, zipOf } from "../../harness/app.ts";
import type { Answer } from "../../harness/service.ts";
import { appThatLeaves, first, sleepers, until } from "../leftovers.ts";
import { type KillableService, startKillable } from "./killable-service.ts";
import { changeOf, openGate } from "./table-writes.ts";

/** SLIPWAY_TESTS=all kills at every write; otherwise one kill meets one write of each scenario, which is short enough for each change. */
const everyWrite = process.env.SLIPWAY_TESTS === "all";
/** The scenarios of that kill, and their writes: together they are killed early, in the middle and late. The others are much alike. */
const sampled: [name: string, isMet: (call: TableCall, index: number) => boolean][] = [
  ["a good deployment", (_, index) => index === 0],
  ["a release command", (call) => changeOf(call) === "ready"],
  ["the deletion of a project", (_, index) => index === 9],
  // The last: its write is answered, and kills the service.
  ["a deployment that fails", (call) => changeOf(call) === "deploying"],
];
/** Longer than a busy machine needs for a start and a removal. */
const settleSeconds = 180;

const says = (text: string) => nodeApp(`res.end(${JSON.stringify(text)})`);
const isWrite = ({ operation }: TableCall) => operation === "TransactWriteItems" || operation === "UpdateItem";
/** Only the listener's read of the build; an endpoint's read contains a key as well. */
const isListener = ({ operation, body }: TableCall) =>
  operation === "BatchGetItem" && body.includes("BLD#") && !body.includes("KEY#");

/** A project in which a scenario runs. */
interface Project {
  path: string;
  /** The id that the counted calls name: that of this project, or of the one that the scenario deletes. */
  watched: string | undefined;
  /** The build whose upload was last acknowledged; it must not wait for an upload any more. */
  uploaded: string;
}

describe("the service killed at a write to its table", () => {
  let table: Awaited<ReturnType<typeof openTable>>;
  let service: KillableService;
  let main: Project;
  /** Each release command adds its own number to this file when it runs. */
  const released = join(mkdtempSync(join(tmpdir(), "released-")), "numbers");
  let releases = 0;

  beforeAll(async () => {
    table = await openTable();
    service = await startKillable(table.gate.endpoint);
    main = { path: service.project, watched: service.seed.projectId, uploaded: "" };
    if (!everyWrite) return;
    for (const text of ["first", "second"])
      expect(await deploy(main, text)).toMatchObject({ status: "ready", error: null });
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
  async function deploy(project: Project, text: string, files = says(text)): Promise<Answer["body"]> {
    const created = await service.call("POST", `${project.path}/builds`, { body: { title: text } });
    expect(created.status).toBe(201);
    expect((await upload(created.body.url, await zipOf(files))).status).toBe(200);
    project.uploaded = created.body.build.id;
    return ended(project, created.body.build.id);
  }
  const ended = (project: Project, id: string) => finished({ call: service.call, project: project.path }, id);

  const scenarios: Record<string, (turn: number, project: Project) => Promise<unknown>> = {
    "a good deployment": async (turn, project) =>
      expect(await deploy(project, `good ${turn}`)).toMatchObject({ status: "ready", error: null }),
    "a deployment that fails": async (turn, project) =>
      expect(await deploy(project, `bad ${turn}`, nodeApp("", "process.exit(7);"))).toMatchObject({ status: "error" }),
    "a release command": async (turn, project) => {
      releases += 1;
      const releaseCommand = `echo ${releases} >> ${released}`;
      const files = { ...says(`released ${turn}`), "slipway.json": JSON.stringify({ releaseCommand }) };
      expect(await deploy(project, `released ${turn}`, files)).toMatchObject({ status: "ready", error: null });
    },
    "a rebuild": async (_, project) => {
      const created = await service.call("POST", `${project.path}/rebuild`);
      expect(created.status).toBe(201);
      expect(await ended(project, created.body.build.id)).toMatchObject({ status: "ready", error: null });
    },
    "a cancel": async (_, project) => {
      const created = await service.call("POST", `${project.path}/builds`);
      await service.call("POST", `${project.path}/builds/${created.body.build.id}/cancel`);
    },
    "the deletion of a project": async (_, project) => {
      const { body } = await service.call("POST", `${organization()}/projects`, { body: { name: "Doomed" } });
      project.watched = body.project.id;
      const doomed = `${organization()}/projects/${body.project.id}`;
      await service.call("POST", `${doomed}/environments`, { body: { name: "A", value: "b" } });
      await service.call("POST", `${doomed}/builds`);
      expect((await service.call("DELETE", `${doomed}?confirm=Doomed`)).status).toBe(200);
      while (service.isAlive() && (await rowsOf(body.project.id)).length > 0) await sleep(250);
    },
    "keys and variables": async (turn, project) => {
      await service.call("POST", `${project.path}/credentials`);
      const made = await service.call("POST", `${project.path}/environments`, {
        body: { name: `V${turn}`, value: "x" },
      });
      const path = `${project.path}/environments/${made.body.environment.id}`;
      await service.call("PUT", path, { body: { name: `W${turn}` } });
      await service.call("DELETE", path);
      const { body } = await service.call("GET", `${project.path}/credentials`);
      for (const { id } of body.credentials) await service.call("DELETE", `${project.path}/credentials/${id}`);
    },
  };

  type Scenario = (typeof scenarios)[string];

  const organization = () => `/organizations/${service.seed.organizationId}`;
  const rowsOf = async (projectId: string) => (await table.direct.rows()).filter(({ pk }) => pk === `PRJ#${projectId}`);

  /** Resolves when no project has rows but those that are listed. */
  async function removed(): Promise<void> {
    const { projects } = (await service.call("GET", `${organization()}/projects`)).body;
    const listed = new Set(projects.map(({ id }: { id: string }) => `PRJ#${id}`));
    const left = async () => (await table.direct.rows()).filter(({ pk }) => pk.startsWith("PRJ#") && !listed.has(pk));
    for (const until = Date.now() + settleSeconds * 1000; (await left()).length > 0; await sleep(250)) {
      if (Date.now() > until) throw new Error(`Rows of deleted projects are left:\n${service.output()}`);
    }
  }

  /** Every build has ended or waits for its upload, the live versions serve, and the projects can be used. */
  async function comesBack(projects: readonly Project[] = [main]): Promise<void> {
    await service.start();
    await removed();
    await Promise.all(projects.map(hasEnded));
    expect(await broken()).toEqual([]);
    await Promise.all(projects.map(isUsable));
    expect(await broken()).toEqual([]);
  }

  async function hasEnded({ path, uploaded }: Project): Promise<void> {
    const until = Date.now() + settleSeconds * 1000;
    for (;;) {
      const { body } = await service.call("GET", `${path}/builds?limit=3`);
      const [newest] = body.builds;
      const { body: one } = await service.call("GET", `${path}/builds/${newest.id}`);
      if (["ready", "error"].includes(one.build.status) || one.build.canceledAt) return;
      if (one.build.status === "pending" && newest.id !== uploaded && Date.now() > until - (settleSeconds - 4) * 1000) {
        // It waits for an upload that the client never made: it can be canceled, unless it has just gone on.
        const { status } = await service.call("POST", `${path}/builds/${newest.id}/cancel`);
        if (status === 200) return;
        expect(status).toBe(409);
      }
      if (Date.now() > until)
        throw new Error(`The build ${newest.id} is still ${one.build.status}:\n${service.output()}`);
      await sleep(500);
    }
  }

  async function isUsable({ path }: Project): Promise<void> {
    const { body: list } = await service.call("GET", `${path}/builds?limit=100`);
    const live = list.builds.filter(({ isLive }: { isLive: boolean }) => isLive);
    expect(live).toHaveLength(1);
    expect(live[0].status).toBe("ready");
    const { body: addresses } = await service.call("GET", `${path}/endpoints`);
    expect(await (await fetch(addresses.endpoints[0])).text()).toBe(live[0].title);
    const next = await service.call("POST", `${path}/builds`);
    expect(next.status).toBe(201);
    expect((await service.call("POST", `${path}/builds/${next.body.build.id}/cancel`)).status).toBe(200);
  }

  /** Runs a scenario and kills the service at its write number `at`; returns the number of writes. */
  async function killedAt(
    run: Scenario,
    at: number,
    moment: "answered" | "unanswered",
    project = main,
  ): Promise<number> {
    let writes = 0;
    const count = (call: TableCall) => {
      if (!isWrite(call)) return;
      writes += 1;
      if (writes - 1 === at) service.kill();
    };
    if (moment === "answered") table.gate.answered = count;
    else table.gate.after = count;
    await run(at, project).catch((error: unknown) => {
      if (writes <= at) throw error;
    });
    if (writes > at) await service.gone();
    table.gate.answered = undefined;
    table.gate.after = undefined;
    return writes;
  }

  /** To be called before a rebuild, because each one runs the release command of the version that serves again. */
  function releasedOnce(): void {
    const numbers = existsSync(released) ? readFileSync(released, "utf8").trim().split("\n") : [];
    expect(numbers).toEqual([...new Set(numbers)]);
  }

  const everyScenario = everyWrite ? Object.entries(scenarios) : [];
  test.each(everyScenario)("%s", { timeout: 900_000 }, async (name, run) => {
    const total = await killedAt(run, Number.POSITIVE_INFINITY, "answered");
    process.stdout.write(`${name}: ${total} writes\n`);
    for (let at = 0; at < total; at += 1) {
      for (const moment of ["unanswered", "answered"] as const) {
        await killedAt(run, at, moment);
        if (!service.isAlive()) await comesBack();
      }
    }
    if (name === "a release command") releasedOnce();
  });

  test.runIf(everyWrite)(
    "a kill while the release command runs: it is not run again, and the build ends as an error",
    async () => {
      releases += 1;
      const releaseCommand = `echo ${releases} >> ${released}; sleep 60`;
      const files = { ...says("not released"), "slipway.json": JSON.stringify({ releaseCommand }) };
      const deployed = deploy(main, "not released", files).catch(() => undefined);
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
      const { body } = await service.call("GET", `${main.path}/builds/${main.uploaded}`);
      expect(body.build).toMatchObject({ status: "error", error: expect.stringContaining("release command") });
      expect(runs()).toBe(1);
    },
  );

  test.runIf(everyWrite)(
    "an upload whose event is not delivered before the kill is seen after it, and so is every later one",
    async () => {
      for (let turn = 0; turn < 3; turn += 1) {
        table.gate.before = (call) => {
          if (isListener(call)) service.kill();
          return undefined;
        };
        await deploy(main, `heard of late ${turn}`).catch(() => undefined);
        table.gate.before = undefined;
        await service.gone();
        await comesBack();
        expect(await deploy(main, `heard of at once ${turn}`)).toMatchObject({ status: "ready", error: null });
      }
    },
  );

  async function newProject(name: string): Promise<Project> {
    const { body } = await service.call("POST", `${organization()}/projects`, { body: { name } });
    const { id } = body.project;
    return { path: `${organization()}/projects/${id}`, watched: id, uploaded: "" };
  }

  const concerns = ({ watched }: Project, { body }: TableCall) => watched !== undefined && body.includes(watched);

  test.skipIf(everyWrite)(
    "one write of each scenario, and an upload whose event is not delivered, all met by one kill",
    async () => {
      expect(await deploy(main, "first")).toMatchObject({ status: "ready", error: null });
      const runs = await Promise.all(
        sampled.map(async ([name, isMet]) => {
          const run = scenarios[name];
          if (run === undefined) throw new Error(`There is no scenario ${name}.`);
          const held = openGate();
          // This scenario makes a project of its own.
          if (name.startsWith("the deletion")) return { project: { ...main, watched: undefined }, run, isMet, held };
          const project = await newProject(name);
          expect(await deploy(project, "first")).toMatchObject({ status: "ready", error: null });
          return { project, run, isMet, held };
        }),
      );
      const from = table.gate.calls.length;
      const isMet = (one: (typeof runs)[number], call: TableCall) => {
        if (!isWrite(call) || !concerns(one.project, call)) return false;
        const writes = table.gate.calls.slice(from).filter((each) => isWrite(each) && concerns(one.project, each));
        return one.isMet(call, writes.indexOf(call));
      };
      const upheld = openGate();
      const last = runs.at(-1);
      const killed = openGate();
      const isHeld = (call: TableCall) => runs.some(({ project, held }) => held.isOpen() && concerns(project, call));
      table.gate.before = async (call) => {
        const isUpload = isListener(call) && concerns(main, call);
        if (isUpload) upheld.open();
        if (!isUpload && !isHeld(call)) return undefined;
        // The repetition of a call whose answer is held, too.
        await killed.opened;
        return { kind: "refuse", name: "InternalServerError", status: 500 };
      };
      table.gate.after = async (call) => {
        const met = runs.find((one) => one !== last && isMet(one, call));
        if (met === undefined) return;
        met.held.open();
        await killed.opened;
      };
      table.gate.answered = (call) => {
        if (last === undefined || !isMet(last, call)) return;
        last.held.open();
        service.kill();
      };
      const cut: Promise<unknown>[] = [deploy(main, "heard of late").catch(() => undefined)];
      for (const { project, run, held } of runs) {
        // The last one begins when the others are held.
        if (project === last?.project) await upheld.opened;
        const ended = run(1, project);
        cut.push(ended);
        await Promise.race([held.opened, ended]);
        expect(held.isOpen()).toBe(true);
      }
      await service.gone();
      killed.open();
      await Promise.allSettled(cut);
      table.gate.before = undefined;
      table.gate.after = undefined;
      table.gate.answered = undefined;
      const others = runs.map(({ project }) => project).filter(({ path }) => path !== main.path);
      await comesBack([main, ...others]);
      releasedOnce();
      expect(await deploy(main, "heard of at once")).toMatchObject({ status: "ready", error: null });
    },
    300_000,
  );

  // The last test, because it leaves the service dead.
  test.runIf(process.platform === "linux")("ends what a build's command leaves behind", async () => {
    const seconds = first + 4;
    const deployed = deploy(main, "left", appThatLeaves(seconds, `sleep ${seconds}`)).catch(() => undefined);
    await until(() => sleepers(seconds).length === 2);
    service.kill();
    await until(() => sleepers(seconds).length === 0);
    await Promise.all([deployed, service.gone()]);
  });
});
