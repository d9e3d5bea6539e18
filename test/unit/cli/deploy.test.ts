import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openArchive } from "../../../buildpack/zip/archive.ts";
import { contractService } from "./contract-service.ts";
import { commandLine, type Finished, folderWith, slipway } from "./slipway.ts";

const app = { "package.json": "{}", "server.js": "//", ".env": "SECRET=hunter2", "node_modules/x.js": "" };

let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "cli-temporary-"));
  vi.stubEnv("TMPDIR", temporary);
});
afterEach(() => {
  vi.unstubAllEnvs();
  const left = readdirSync(temporary);
  rmSync(temporary, { recursive: true, force: true });
  expect(left, "temporary files are left behind").toEqual([]);
});

type Service = Awaited<ReturnType<typeof contractService>>;

async function deploy(
  service: Service,
  words: string[] = [],
  more: Parameters<typeof slipway>[1] = {},
): Promise<Finished> {
  using folder = folderWith(app);
  const environment = { ...service.environment, TMPDIR: temporary, ...more.environment };
  const run = more.onNote ? slipway : commandLine;
  const finished = await run(["deploy", folder.path, ...words], { ...more, environment });
  expect(finished.stdout + finished.stderr).not.toMatch(/5ec3e7|hunter2/);
  return finished;
}

test("a folder becomes an address: the address is all that stdout holds", async () => {
  const advice = { suggestion: "Commit a lock file.\nSet engines.node.", warning: "GET / answered 404." };
  const statuses = ["pending", "analyzing", "building", "deploying"].map((status) => ({ status }));
  await using service = await contractService({ statuses: [...statuses, { status: "ready", ...advice }] });
  const { code, stdout, stderr } = await deploy(service, ["--title", "One", "--description", "Two"]);
  expect([code, stdout]).toEqual([0, "http://127.0.0.1:9/\n"]);
  expect(stderr).toMatch(/^Packed 2 files, \d+ bytes\.\nNot sent: \.env\. .*\nBuild bld_1\.\nUploaded \d+ bytes in /);
  expect(stderr).toMatch(
    / {2}queued +\d.*\n {2}analyzing +\d.*\n {2}building +\d.*\n {2}deploying +\d.*\nReady after /,
  );
  expect(stderr).toContain(
    "Suggestion: Commit a lock file.\nSuggestion: Set engines.node.\nWarning: GET / answered 404.",
  );
  expect(stderr).not.toContain("\u001b");
  expect(service.calls().slice(0, 3)).toEqual(["GET /builds", "POST /builds", "PUT /put/bld_1.zip"]);
  const [, create, put] = service.asked;
  expect(JSON.parse(create?.body.toString() ?? "")).toEqual({ title: "One", description: "Two" });
  expect(put?.headers).not.toHaveProperty("authorization");
  expect(put?.headers["content-type"]).toBe("application/zip");
  const bytes = put?.body ?? Buffer.alloc(0);
  const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length);
  const archive = await openArchive({ size: bytes.length, read });
  await archive.verify();
  expect(archive.entries.map(({ path }) => path)).toEqual(["package.json", "server.js"]);
});

test("a service on this machine is read again before the time that it asks for", async () => {
  const statuses = [{ status: "pending" }, { status: "ready" }];
  await using service = await contractService({ statuses, retryAfterSeconds: 600 });
  expect(await deploy(service)).toMatchObject({ code: 0 });
});

test("with --json stdout is one object", async () => {
  await using service = await contractService();
  const { code, stdout } = await deploy(service, ["--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    build: { id: "bld_1", status: "ready" },
    endpoints: ["http://127.0.0.1:9/"],
  });
});

test("a failed build ends with code 1, its error and the last lines of its output", async () => {
  const logLines = Array.from({ length: 30 }, (_, index) => `line ${index}\u001b[31m`);
  const statuses = [{ status: "error", error: "The app exited with code 1.\nLook at its output." }];
  await using service = await contractService({ statuses, logLines });
  const { code, stdout, stderr } = await deploy(service);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("Build bld_1 failed.\nThe app exited with code 1.\nLook at its output.\n");
  expect(stderr).toContain("deploying line 29\n");
  expect(stderr).toContain("deploying line 10\n");
  expect(stderr).not.toContain("line 9\n");
  expect(stderr).not.toContain("\u001b");
});

test("output that the error shows already is not shown twice", async () => {
  const statuses = [{ status: "error", error: "The app exited with code 1.\nLast output:\nno DATABASE_URL" }];
  await using service = await contractService({ statuses, logLines: ["starting", "no DATABASE_URL"] });
  const { stderr } = await deploy(service);
  expect(stderr.match(/no DATABASE_URL/g)).toHaveLength(1);
  expect(stderr).toContain("All of its output: slipway logs bld_1\n");
});

test("a build that someone else cancels ends with code 1", async () => {
  await using service = await contractService({
    statuses: [{ status: "building", canceledAt: "2026-11-20T01:02:03.456Z" }],
  });
  const { code, stderr } = await deploy(service);
  expect(code).toBe(1);
  expect(stderr).toContain("Build bld_1 was canceled while building.");
});

test("an upload that is refused cancels the build, which would lock the project for an hour", async () => {
  await using service = await contractService({ uploadStatus: 403 });
  const { code, stderr } = await deploy(service);
  expect(code).toBe(1);
  expect(stderr).toContain("Canceled build bld_1.\nThe archive was not accepted (403).");
  expect(service.calls()).toContain("POST /builds/bld_1/cancel");
});

test("a build in progress is named, with what to do", async () => {
  await using service = await contractService({ conflicts: [{ id: "bld_0", status: "building" }] });
  const { code, stderr } = await deploy(service);
  expect(code).toBe(1);
  expect(stderr).toContain("Build bld_0 of this project is in progress (building, since 2026-11-20T01:02:03.456Z).");
  expect(stderr).toContain("Use --wait to deploy after it");
  expect(service.calls()).toEqual(["GET /builds", "POST /builds"]);
});

test("with --wait it is waited for, as often as another one comes first", async () => {
  const conflicts = ["bld_0", "bld_00"].map((id) => ({ id, status: "building" }));
  await using service = await contractService({ conflicts });
  const { code } = await deploy(service, ["--wait"]);
  expect(code).toBe(0);
  const calls = service.calls().filter((call) => !call.endsWith("/logs"));
  expect(calls.slice(0, 6)).toEqual([
    "GET /builds",
    "POST /builds",
    "GET /builds/bld_0",
    "POST /builds",
    "GET /builds/bld_00",
    "POST /builds",
  ]);
  const keys = service.asked.map(({ headers }) => headers["idempotency-key"]).filter(Boolean);
  expect(new Set(keys).size).toBe(3);
});

/** Sends a signal, once or more often, when this stage is shown. A later one could arrive while the process ends. */
const atStage = (stage: string, signal: NodeJS.Signals, times = 1) => {
  let sent = false;
  return (stderr: string, kill: (signal: NodeJS.Signals) => void) => {
    if (sent || !stderr.includes(stage)) return;
    sent = true;
    for (let time = 0; time < times; time += 1) kill(signal);
  };
};

test("Ctrl-C cancels the build and ends with code 130, also when npm passes the signal on a second time", async () => {
  const queued = Array.from({ length: 3 }, () => ({ status: "pending" }));
  await using service = await contractService({ statuses: [...queued, { status: "building" }] });
  const { code, stdout, stderr } = await deploy(service, [], {
    onNote: atStage("queued", "SIGINT", 2),
  });
  expect([code, stdout]).toEqual([130, ""]);
  expect(stderr).toContain("Canceled build bld_1.");
  expect(service.calls()).toContain("POST /builds/bld_1/cancel");
});

test("SIGTERM does the same with its own code", async () => {
  await using service = await contractService({ statuses: [{ status: "pending" }, { status: "building" }] });
  const { code } = await deploy(service, [], { onNote: atStage("queued", "SIGTERM") });
  expect(code).toBe(143);
  expect(service.calls()).toContain("POST /builds/bld_1/cancel");
});

test("a Ctrl-C that comes too late to cancel says so", async () => {
  const statuses = [{ status: "pending" }, { status: "deploying" }];
  await using service = await contractService({ statuses, cancelRefusal: "The build is being deployed." });
  const { code, stderr } = await deploy(service, [], { onNote: atStage("queued", "SIGINT") });
  expect(code).toBe(130);
  expect(stderr).toContain("Build bld_1 could not be canceled: The build is being deployed.");
});

test("Ctrl-C while waiting for somebody else's build leaves that build alone", async () => {
  const statuses = [{ status: "building" }];
  await using service = await contractService({ statuses, conflicts: [{ id: "bld_0", status: "building" }] });
  const { code } = await deploy(service, ["--wait"], { onNote: atStage("Waiting", "SIGINT") });
  expect(code).toBe(130);
  expect(service.calls().filter((call) => call.endsWith("/cancel"))).toEqual([]);
});

test("--env-file sets what is new or different before the build is created, and shows names only", async () => {
  const environments = [
    { id: "env_1", name: "OLD", value: "hunter2" },
    { id: "env_2", name: "SAME", value: "same" },
  ];
  await using service = await contractService({ environments });
  using settings = folderWith({ "prod.env": 'NEW="hunter2 $x"\nOLD=hunter2-b\nSAME=same\n' });
  const { code, stderr } = await deploy(service, ["--env-file", "prod.env"], { workingFolder: settings.path });
  expect(code).toBe(0);
  expect(stderr).toContain("Set NEW, OLD, SAME.");
  expect(service.calls().slice(0, 5)).toEqual([
    "GET /builds",
    "GET /environments",
    "POST /environments",
    "PUT /environments/env_1",
    "POST /builds",
  ]);
  expect(JSON.parse(service.asked[2]?.body.toString() ?? "")).toEqual({ name: "NEW", value: "hunter2 $x" });
});

test("a folder that cannot be sent causes no call of the service", async () => {
  await using service = await contractService();
  using empty = folderWith({ ".env": "A=1" });
  const environment = { ...service.environment, TMPDIR: temporary };
  const { code, stderr } = await commandLine(["deploy", empty.path], { environment });
  expect(code).toBe(1);
  expect(stderr).toContain("holds no file to deploy");
  using linked = folderWith({ "app.js": "", out: { link: "/etc" } });
  expect((await commandLine(["deploy", linked.path], { environment })).stderr).toContain(
    "out is a link to an absolute path",
  );
  expect(service.calls()).toEqual([]);
});

test.each<[string, [string, 401 | 404][], string]>([
  ["a key that is not valid", [["/", 401]], "A valid credential is required. Check SLIPWAY_ACCESS_KEY"],
  ["a project that does not exist", [["/projects/", 404]], "There is no project prj_1 in org_1. Check --project"],
])("%s is found out before anything is packed", async (_, refusals, sentence) => {
  await using service = await contractService({ refusals });
  const { code, stderr } = await deploy(service);
  expect(code).toBe(1);
  expect(stderr).toContain(sentence);
  expect(stderr).not.toContain("Packed");
  expect(service.calls()).not.toContain("POST /builds");
});

test("a service that does not run is found out before anything is packed, with how to start it", async () => {
  const gone = await contractService();
  await gone[Symbol.asyncDispose]();
  const { code, stderr } = await deploy(gone);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^The service at .* \(ECONNREFUSED\)\. Start the local service with: npm start\n$/);
});

test("the detected app and its start command are shown once", async () => {
  const text = "Detected: nodejs24.x with npm. Started with: node server.js";
  const logLines = [{ stage: "building", text }, "Detected: is a word of the app"];
  await using service = await contractService({ logLines });
  const { code, stderr } = await deploy(service);
  expect(code).toBe(0);
  expect(stderr).toContain(`  ${text}\n`);
  expect(stderr.match(/Detected/g)).toHaveLength(1);
});

test("advice is shown for a failed build too", async () => {
  const statuses = [
    { status: "error", error: "No answer.", suggestion: "Commit a lock file.", warning: "Old Node.js." },
  ];
  await using service = await contractService({ statuses });
  const { stderr } = await deploy(service);
  expect(stderr).toContain("No answer.\nSuggestion: Commit a lock file.\nWarning: Old Node.js.\n");
});

test("Ctrl-C cancels a rebuild too", async () => {
  await using service = await contractService({ statuses: [{ status: "building" }] });
  const { code, stderr } = await slipway(["rebuild"], {
    environment: { ...service.environment, TMPDIR: temporary },
    onNote: atStage("Build bld_1.", "SIGINT"),
  });
  expect([code, stderr]).toEqual([130, expect.stringContaining("Canceled build bld_1.")]);
  expect(service.calls()).toContain("POST /builds/bld_1/cancel");
});
