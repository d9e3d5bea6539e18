import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../../cli/commands.ts";
import { contractService } from "./contract-service.ts";
import { commandLine, folderWith, slipway } from "./slipway.ts";

test.each([
  [["deploy", ".", "--nope"], "Unknown option --nope of slipway deploy."],
  [["deploy"], "Usage: slipway deploy <folder>."],
  [["deploy", "a", "b"], "Usage: slipway deploy <folder>."],
  [["deploy", ".", "--title"], "Option '--title <value>' argument missing."],
  [["deploy", ".", "--wait=yes"], "Option '--wait' does not take an argument."],
  [["launch"], 'Unknown command "launch".'],
  [
    ["env"],
    "Name a subcommand: slipway env list, slipway env get, slipway env set, slipway env unset, slipway env pull, slipway env push.",
  ],
  [["builds", "--limit", "0"], "--limit must be a number from 1 to 100."],
  [["keys", "delete", "abc"], 'Invalid key id "abc". List the keys with: slipway keys list.'],
  [["env", "set", "=x"], "Invalid variable. Write NAME=value."],
])("slipway %j is answered with a sentence and code 2", async (words, sentence) => {
  const { code, stdout, stderr } = await commandLine(words);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toBe(sentence.startsWith("Usage:") ? `${sentence}\n` : `${sentence} See slipway --help.\n`);
});

test("--help goes to stdout with code 0, and lists every command", async () => {
  const { code, stdout, stderr } = await slipway(["--help"]);
  expect([code, stderr]).toEqual([0, ""]);
  const names = [...stdout.matchAll(/^ {2}(\w+(?: \w+)?) {2,}\S/gm)].map(([, name]) => name);
  expect(names).toEqual(commands.map(({ name }) => name));
});

test("a command of two words has its own --help, which names each of its options", async () => {
  const { code, stdout } = await commandLine(["env", "set", "--help"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Usage: slipway env set NAME=value.*--env-file <file> .*--json /s);
});

test("without a service to talk to, the command says how to name one", async () => {
  using home = folderWith({});
  const { code, stderr } = await slipway(["endpoints"], { workingFolder: home.path });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^No service is configured\. Set SLIPWAY_URL .* npm start, which writes .*local\.json\.\n$/);
});

const local = (baseUrl: string, more: object = {}) =>
  JSON.stringify({ baseUrl, organizationId: "org_1", projectId: "prj_1", accessKey: "ak", secretKey: "sk_1", ...more });

test("the local service's file is enough, in .slipway or in SLIPWAY_HOME", async () => {
  await using service = await contractService();
  using home = folderWith({ ".slipway/local.json": local(service.environment.SLIPWAY_URL) });
  const found = await commandLine(["endpoints"], { workingFolder: home.path });
  expect(found).toEqual({ code: 0, stdout: "http://127.0.0.1:9/\n", stderr: "" });
  const environment = { SLIPWAY_HOME: join(home.path, ".slipway") };
  expect((await commandLine(["endpoints"], { environment })).stdout).toBe("http://127.0.0.1:9/\n");
  expect(service.asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer ak:sk_1", "Bearer ak:sk_1"]);
});

test("flags win over the environment, the environment over the file", async () => {
  await using service = await contractService();
  const url = service.environment.SLIPWAY_URL;
  using home = folderWith({ ".slipway/local.json": local(url) });
  const workingFolder = home.path;
  const environment = { SLIPWAY_ORGANIZATION: "org_2", SLIPWAY_PROJECT: "prj_2", SLIPWAY_TOKEN: "pat" };
  await commandLine(["endpoints"], { workingFolder, environment });
  await commandLine(["endpoints", "--project", "prj_3", "--organization", "org_3"], { workingFolder, environment });
  const asked = service.asked.filter(({ call }) => call.endsWith("/endpoints"));
  expect(asked.map(({ call, headers }) => [call, headers.authorization])).toEqual([
    ["GET /organizations/org_2/projects/prj_2/endpoints", "Bearer pat"],
    ["GET /organizations/org_3/projects/prj_3/endpoints", "Bearer pat"],
  ]);
});

test("the local service's key is not sent to another service", async () => {
  await using service = await contractService();
  using home = folderWith({ ".slipway/local.json": local("http://127.0.0.1:1") });
  const words = ["endpoints", "--url", service.environment.SLIPWAY_URL, "--project", "prj_1"];
  const { code, stderr } = await commandLine(words, { workingFolder: home.path });
  expect(code).toBe(1);
  expect(stderr).toContain("No key is configured.");
  expect(service.asked).toEqual([]);
});

test("a key's only organization is found out", async () => {
  await using service = await contractService();
  const { SLIPWAY_ORGANIZATION: _, ...environment } = service.environment;
  expect(await commandLine(["endpoints"], { environment })).toMatchObject({ code: 0 });
  expect(service.asked[0]?.call).toBe("GET /organizations");
});

test.each([
  [{ SLIPWAY_SECRET_KEY: "" }, "One of SLIPWAY_ACCESS_KEY and SLIPWAY_SECRET_KEY is missing. Set both."],
  [
    { SLIPWAY_PROJECT: "" },
    "No project is selected. Use --project <id>, set SLIPWAY_PROJECT, or run: slipway link --project <id>. List the projects with: slipway projects list",
  ],
  [
    { SLIPWAY_URL: "slipway" },
    "The service's address must be an http or https address without user name, query or fragment. Check --url or SLIPWAY_URL.",
  ],
  [{ SLIPWAY_SECRET_KEY: "5ec3e7 x" }, "A key or token contains an invalid character"],
])("a wrong setting is a sentence that repeats no secret: %j", async (wrong, sentence) => {
  await using service = await contractService();
  const { code, stderr } = await commandLine(["endpoints"], { environment: { ...service.environment, ...wrong } });
  expect(code).toBe(1);
  expect(stderr).toContain(sentence);
  expect(stderr).not.toContain("5ec3e7");
});

test("a broken local.json is named, and its contents are not shown", async () => {
  using home = folderWith({ ".slipway/local.json": '{"secretKey": "5ec3e7"' });
  const { code, stderr } = await commandLine(["endpoints"], { workingFolder: home.path });
  expect(code).toBe(1);
  expect(stderr).toMatch(/local\.json is not a file of the local service\. Delete it/);
  expect(stderr).not.toContain("5ec3e7");
});

test("an unreachable service and a refused call each give a message", async () => {
  const gone = await contractService();
  await gone[Symbol.asyncDispose]();
  const { code, stderr } = await commandLine(["cancel", "bld_1"], { environment: gone.environment });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^The service at http:\/\/127\.0\.0\.1:\d+ could not be reached \(ECONNREFUSED\)\. Start the local service with: npm start\n$/,
  );
  await using service = await contractService();
  const url = service.environment.SLIPWAY_URL.replace("http:", "https:");
  const wrong = await commandLine(["cancel", "bld_1"], { environment: { ...service.environment, SLIPWAY_URL: url } });
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    expect.stringMatching(/\(E\w+\)\. Check whether its address begins with http or https\.\n$/),
  ]);
  const refused = await commandLine(["keys", "list"], { environment: service.environment });
  expect(refused).toEqual({ code: 1, stdout: "", stderr: "There is no such resource.\n" });
});

test("values of variables are taken from standard input as they are, and never printed", async () => {
  await using service = await contractService({ environments: [{ id: "env_1", name: "OLD", value: "hunter2" }] });
  const { environment } = service;
  const stdin = 'a "b" $c\\\n';
  expect(await commandLine(["env", "set", "NEW"], { environment, stdin })).toMatchObject({ code: 0, stdout: "" });
  expect(JSON.parse(service.asked.at(-1)?.body.toString() ?? "")).toEqual({ name: "NEW", value: stdin });
  const list = await commandLine(["env", "list", "--json"], { environment });
  expect(JSON.parse(list.stdout).environments[0]).toMatchObject({ id: "env_1", name: "OLD" });
  expect(list.stdout).not.toContain("hunter2");
});

test("logs prints each line once while it follows, until the build is finished", async () => {
  const statuses = [{ status: "building" }, { status: "ready" }];
  await using service = await contractService({ statuses, logLines: ["one", "two\u001b[2J"] });
  const { code, stdout } = await commandLine(["logs", "bld_1", "--follow"], { environment: service.environment });
  expect(code).toBe(0);
  expect(stdout).toBe("2026-11-20T01:02:03.456Z deploying one\n2026-11-20T01:02:03.456Z deploying two\n");
});

test.each<[string, [string, 401 | 404][], Record<string, string>, string]>([
  [
    "organization",
    [],
    { SLIPWAY_ORGANIZATION: "org_9" },
    "There is no organization org_9 for this key. Check --organization or SLIPWAY_ORGANIZATION. This key has access to: org_1 (One).",
  ],
  [
    "project",
    [["/prj_9/", 404]],
    { SLIPWAY_PROJECT: "prj_9" },
    "There is no project prj_9 in org_1. Check --project or SLIPWAY_PROJECT.",
  ],
  ["build", [["/bld_9", 404]], {}, "There is no build bld_9 in prj_1. List its builds with: slipway builds"],
])("what is missing is named: the %s", async (_, refusals, changes, sentence) => {
  await using service = await contractService({ refusals });
  const environment = { ...service.environment, ...changes };
  expect(await commandLine(["status", "bld_9"], { environment })).toEqual({
    code: 1,
    stdout: "",
    stderr: `${sentence}\n`,
  });
});

test("an answer that does not match the contract is an error, in the installed command too", async () => {
  await using service = await contractService({ builds: [{ id: "bld_1", status: "unheard of" }] });
  const { code, stdout, stderr } = await commandLine(["builds"], { environment: service.environment });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("The service's answer to list-builds does not match the contract.");
});

test.each([
  [["rows", "get", "notes", "7"], "There is no row 7 in table notes of dbs_1. List its rows with: slipway rows notes"],
  [["rows", "notes"], "There is no table notes in dbs_1. List its tables with: slipway tables --database dbs_1"],
  [["tables"], "There is no database dbs_1. List them with: slipway databases list"],
  [
    ["files", "download", "fil_9", "--storage", "sto_1"],
    "There is no file fil_9 in sto_1. List its files with: slipway files list --storage sto_1",
  ],
  [["files", "list", "--storage", "sto_1"], "There is no storage sto_1. List them with: slipway storages list"],
])("missing data is named, with where to look: %j", async (words, sentence) => {
  await using service = await contractService();
  const environment = { ...service.environment, SLIPWAY_DATABASE: "dbs_1" };
  expect(await commandLine(words, { environment })).toEqual({ code: 1, stdout: "", stderr: `${sentence}\n` });
});

test("an empty list of variables says how to set one, and its JSON stays JSON", async () => {
  await using service = await contractService();
  const { environment } = service;
  const empty = "No variables yet. Set one with: slipway env set NAME=value\n";
  expect(await commandLine(["env", "list"], { environment })).toEqual({ code: 0, stdout: "", stderr: empty });
  expect((await commandLine(["env", "list", "--json"], { environment })).stdout).toBe('{"environments":[]}\n');
});
