import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contractService } from "./contract-service.ts";
import { folderWith, slipway } from "./slipway.ts";

test("login checks the token, keeps it for its owner only, and the other commands use it until logout", async () => {
  await using service = await contractService();
  using home = folderWith({});
  const environment = { SLIPWAY_CONFIG: join(home.path, "config") };
  const url = service.environment.SLIPWAY_URL;
  const run = (words: string[], stdin = "") => slipway(words, { environment, workingFolder: home.path, stdin });
  const login = await run(["login", "--url", `${url}/`, "--token", "-"], "slp_token\n");
  expect(login).toMatchObject({ code: 0, stdout: "" });
  expect(login.stderr).toContain("Organizations: One.");
  expect(login.stderr).not.toContain("slp_token");
  const file = join(home.path, "config", "logins.json");
  expect([statSync(file).mode & 0o777, statSync(join(file, "..")).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(await run(["whoami"])).toMatchObject({ code: 0, stdout: "org_1  key  One\n" });
  expect(service.asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer slp_token", "Bearer slp_token"]);
  const link = await run(["link", "--project", "prj_1"]);
  expect(link).toMatchObject({ code: 0 });
  expect(readFileSync(join(home.path, ".slipway/project.json"), "utf8")).not.toContain("slp_token");
  expect((await run(["endpoints"])).stdout).toBe("http://127.0.0.1:9/\n");
  expect(await run(["logout"])).toMatchObject({ code: 0 });
  expect((await run(["whoami"])).stderr).toContain("No key is configured.");
});

test("a token that the service refuses is not saved", async () => {
  await using service = await contractService({ refusals: [["/organizations", 401]] });
  using home = folderWith({});
  const environment = { SLIPWAY_CONFIG: home.path };
  const words = ["login", "--url", service.environment.SLIPWAY_URL, "--token", "slp_5ec3e7"];
  const { code, stderr } = await slipway(words, { environment });
  expect([code, stderr]).toEqual([1, "The service does not accept this token. Create a new one, and log in again.\n"]);
  expect((await slipway(["logout"], { environment })).stderr).toBe("No login is saved.\n");
});

test("a saved token is not sent to another service, and a profile is chosen by name", async () => {
  await using service = await contractService();
  const logins = {
    current: "elsewhere",
    profiles: {
      elsewhere: { baseUrl: "http://127.0.0.1:1", token: "far" },
      here: { baseUrl: service.environment.SLIPWAY_URL, token: "near" },
    },
  };
  using home = folderWith({ "logins.json": JSON.stringify(logins) });
  const environment = { SLIPWAY_CONFIG: home.path };
  const url = ["--url", service.environment.SLIPWAY_URL];
  expect((await slipway(["whoami", ...url], { environment })).stderr).toContain("No key is configured.");
  expect(service.asked).toEqual([]);
  expect(await slipway(["whoami", "--profile", "here"], { environment })).toMatchObject({ code: 0 });
  expect(service.asked[0]?.headers.authorization).toBe("Bearer near");
  const unknown = await slipway(["whoami", "--profile", "nowhere"], { environment });
  expect(unknown.stderr).toContain("There is no saved login nowhere.");
});

test("a raw call prints the answer, and a refusal ends with 1", async () => {
  await using service = await contractService();
  const { environment } = service;
  const found = await slipway(["api", "GET", "/organizations"], { environment });
  expect([found.code, JSON.parse(found.stdout)]).toEqual([
    0,
    { organizations: [{ id: "org_1", name: "One", role: null }] },
  ]);
  const project = "/organizations/org_1/projects/prj_1";
  const made = await slipway(["api", "post", `${project}/environments`, "--data", "-"], {
    environment,
    stdin: '{"name":"A","value":"b"}',
  });
  expect([made.code, JSON.parse(made.stdout).environment.name]).toEqual([0, "A"]);
  expect(await slipway(["api", "GET", "/nothing"], { environment })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("not_found"),
  });
  expect(await slipway(["api", "GET", "nothing"], { environment })).toMatchObject({ code: 2 });
});

test("variables go into a file and back as they are, and one is printed as it is", async () => {
  const hard = { id: "env_1", name: "HARD", value: 'a "b" $c \\n\n# d' };
  const plain = { id: "env_2", name: "PLAIN", value: "x" };
  await using service = await contractService({ environments: [hard, plain] });
  using home = folderWith({});
  const { environment } = service;
  const run = (words: string[]) => slipway(words, { environment, workingFolder: home.path });
  expect(await run(["env", "pull"])).toMatchObject({ code: 0, stdout: "" });
  expect(statSync(join(home.path, ".env")).mode & 0o777).toBe(0o600);
  expect((await run(["env", "pull"])).stderr).toContain("Use --force");
  await run(["env", "push"]);
  // Nothing is written again when every value is the same.
  expect(service.calls().filter((call) => call.startsWith("PUT") || call.startsWith("POST"))).toEqual([]);
  expect((await run(["env", "get", "HARD"])).stdout).toBe(hard.value);
});

test.each(["bash", "zsh", "fish"])("the completion for %s names each command and option", async (shell) => {
  const { code, stdout } = await slipway(["completion", shell]);
  expect(code).toBe(0);
  for (const word of ["deploy", "files", "upload", "env-file"]) expect(stdout).toContain(word);
});

test("a stack trace is shown with --debug only", async () => {
  using home = folderWith({ ".slipway/local.json": "{" });
  const plain = await slipway(["whoami"], { workingFolder: home.path });
  expect(plain.stderr.split("\n")).toHaveLength(2);
  expect((await slipway(["whoami", "--debug"], { workingFolder: home.path })).stderr).toMatch(/\n\s+at /);
});
