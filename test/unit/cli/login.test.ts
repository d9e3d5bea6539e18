import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contractService } from "./contract-service.ts";
import { commandLine, folderWith, slipway } from "./slipway.ts";

test("login checks the token, keeps it for its owner only, and the other commands use it until logout", async () => {
  await using service = await contractService();
  using home = folderWith({});
  const environment = { SLIPWAY_CONFIG: join(home.path, "config") };
  const url = service.environment.SLIPWAY_URL;
  const run = (words: string[]) => commandLine(words, { environment, workingFolder: home.path });
  const words = ["login", "--url", `${url}/`, "--token", "-"];
  const login = await slipway(words, { environment, workingFolder: home.path, stdin: "slp_token\n" });
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

/** A login whose browser is this test: `visit` gets the page's address, from the command's output. */
async function loginInBrowser(
  url: string,
  home: string,
  visit: (page: URL, visited: (query: Record<string, string>) => Promise<Response>) => Promise<void>,
  words: string[] = [],
) {
  let visiting: Promise<void> | undefined;
  const finished = await slipway(["login", "--url", url, ...words], {
    // No program opens the address, so that the command asks for it to be opened by hand.
    environment: { SLIPWAY_CONFIG: home, DISPLAY: ":0", PATH: home },
    onNote: (stderr) => {
      const address = /^http\S+\/console\/connect\?\S+$/m.exec(stderr)?.[0];
      if (address === undefined || visiting !== undefined) return;
      const page = new URL(address);
      const visited = (query: Record<string, string>) =>
        fetch(`${page.searchParams.get("redirect")}?${new URLSearchParams(query)}`);
      visiting = visit(page, visited);
    },
  });
  await visiting;
  return finished;
}

test("login through the browser exchanges the code of its own page for a token, which logout deletes", async () => {
  await using service = await contractService();
  using home = folderWith({});
  const url = service.environment.SLIPWAY_URL;
  let challenge: string | null = null;
  const { code, stderr } = await loginInBrowser(
    url,
    home.path,
    async ({ hostname, searchParams }, visited) => {
      expect([hostname, searchParams.get("tool"), searchParams.get("access")]).toEqual([
        "localhost",
        "slipway",
        "read",
      ]);
      expect(searchParams.getAll("organization")).toEqual(["org_1", "org_2"]);
      expect(searchParams.get("redirect")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
      challenge = searchParams.get("challenge");
      // Another page cannot make the command use its code.
      expect((await visited({ code: "slc_other", state: "x" })).status).toBe(400);
      expect((await visited({ code: "slc_other" })).status).toBe(400);
      const answer = await visited({ code: "slc_1", state: searchParams.get("state") ?? "" });
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("You are logged in")]);
    },
    ["--access", "read", "--organization", "org_1,org_2"],
  );
  expect([code, stderr]).toEqual([0, expect.stringContaining("Organizations: One.")]);
  const exchange = service.asked.find(({ call }) => call === "POST /console/connect/token");
  const sent = JSON.parse(String(exchange?.body));
  expect(sent.code).toBe("slc_1");
  expect(createHash("sha256").update(sent.verifier).digest("base64url")).toBe(challenge);
  const file = join(home.path, "logins.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, "utf8")).profiles).toEqual({
    [new URL(url).host]: { baseUrl: url, token: "slp_made", tokenId: "tok_1" },
  });
  const logout = await commandLine(["logout"], { environment: { SLIPWAY_CONFIG: home.path } });
  expect(logout).toMatchObject({ code: 0, stderr: expect.stringContaining("Deleted its token.") });
  expect(service.calls().at(-1)).toBe("DELETE /me/tokens/tok_1");
  expect(service.asked.at(-1)?.headers.authorization).toBe("Bearer slp_made");
});

test("a login that is declined in the console saves nothing", async () => {
  await using service = await contractService();
  using home = folderWith({});
  const { code, stderr } = await loginInBrowser(
    service.environment.SLIPWAY_URL,
    home.path,
    async ({ searchParams }, visited) => {
      await visited({ error: "access_denied", state: searchParams.get("state") ?? "" });
    },
  );
  expect([code, stderr]).toEqual([1, expect.stringContaining("The login was declined in the console.\n")]);
  expect(service.calls()).toEqual([]);
  expect(existsSync(join(home.path, "logins.json"))).toBe(false);
});

test("without a browser the page shows a code to enter, and a wrong one is refused in one sentence", async () => {
  await using service = await contractService({ refusals: [["slc_wrong", 401]] });
  using home = folderWith({});
  const run = (stdin: string, environment: Record<string, string>, words: string[] = []) =>
    commandLine(["login", "--url", service.environment.SLIPWAY_URL, ...words], {
      // Over SSH no browser is used on any platform.
      environment: { SLIPWAY_CONFIG: home.path, SSH_CONNECTION: "x", ...environment },
      stdin,
    });
  const none = await run("", {});
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("No code was given.")]);
  expect(none.stderr).not.toContain("redirect=");
  const wrong = await run("slc_wrong\n", {});
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("The code is wrong, was used before")]);
  expect(await run("slc_1\n", { DISPLAY: ":0" }, ["--no-browser"])).toMatchObject({ code: 0 });
  expect(await run("", {}, ["--access", "admin"])).toMatchObject({ code: 2 });
});

test("a new login deletes the token of the one that it replaces, but none that was given", async () => {
  await using service = await contractService();
  using home = folderWith({});
  const environment = { SLIPWAY_CONFIG: home.path };
  const login = (words: string[], stdin: string) =>
    commandLine(["login", "--url", service.environment.SLIPWAY_URL, ...words], { environment, stdin });
  const deleted = () => service.calls().filter((call) => call.startsWith("DELETE"));
  await login([], "slc_1");
  await login(["--token", "slp_given"], "");
  expect(deleted()).toEqual(["DELETE /me/tokens/tok_1"]);
  await login(["--token", "slp_other"], "");
  expect((await commandLine(["logout"], { environment })).stderr).toContain("Its token stays valid.");
  expect(deleted()).toEqual(["DELETE /me/tokens/tok_1"]);
});

test("a token that the service refuses is not saved", async () => {
  await using service = await contractService({ refusals: [["/organizations", 401]] });
  using home = folderWith({});
  const environment = { SLIPWAY_CONFIG: home.path };
  const words = ["login", "--url", service.environment.SLIPWAY_URL, "--token", "slp_5ec3e7"];
  const { code, stderr } = await commandLine(words, { environment });
  expect([code, stderr]).toEqual([1, "The service does not accept this token. Create a new one, and log in again.\n"]);
  expect((await commandLine(["logout"], { environment })).stderr).toBe("No login is saved.\n");
});

test("a login that is no longer valid says how to log in again, and a key where to look", async () => {
  await using service = await contractService({ refusals: [["/organizations", 401]] });
  const baseUrl = service.environment.SLIPWAY_URL;
  const logins = { current: "here", profiles: { here: { baseUrl, token: "slp_5ec3e7" } } };
  using home = folderWith({ "logins.json": JSON.stringify(logins) });
  const environment = { SLIPWAY_CONFIG: home.path };
  const expired = await commandLine(["whoami"], { environment });
  const reason = "A valid credential is required.";
  expect([expired.code, expired.stderr]).toEqual([
    1,
    `${reason} Your login has expired. Run: slipway login --url ${baseUrl}\n`,
  ]);
  const named = await commandLine(["whoami", "--profile", "here"], { environment });
  expect(named.stderr).toContain(`slipway login --profile here --url ${baseUrl}`);
  const byKey = await commandLine(["whoami"], { environment: service.environment });
  expect(byKey.stderr).toBe(`${reason} Check SLIPWAY_ACCESS_KEY and SLIPWAY_SECRET_KEY, or SLIPWAY_TOKEN.\n`);
});

test.each([200, 404])("a wrong address, where something else answers with %i, is a sentence", async (status) => {
  const server = createServer((_, response) => response.writeHead(status).end("<html>hello</html>"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const SLIPWAY_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, stderr } = await commandLine(["whoami"], { environment: { SLIPWAY_URL, SLIPWAY_TOKEN: "slp_5ec3e7" } });
  expect([code, stderr.split("\n").length]).toEqual([1, 2]);
  expect(stderr).toContain(`Is a Slipway service of this version at ${SLIPWAY_URL}? Check --url or SLIPWAY_URL.`);
  server.close();
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
  expect((await commandLine(["whoami", ...url], { environment })).stderr).toContain("No key is configured.");
  expect(service.asked).toEqual([]);
  expect(await commandLine(["whoami", "--profile", "here"], { environment })).toMatchObject({ code: 0 });
  expect(service.asked[0]?.headers.authorization).toBe("Bearer near");
  const unknown = await commandLine(["whoami", "--profile", "nowhere"], { environment });
  expect(unknown.stderr).toContain("There is no saved login nowhere.");
});

test("a raw call prints the answer, and a refusal ends with 1", async () => {
  await using service = await contractService();
  const { environment } = service;
  const found = await commandLine(["api", "GET", "/organizations"], { environment });
  expect([found.code, JSON.parse(found.stdout)]).toEqual([
    0,
    { organizations: [{ id: "org_1", name: "One", role: null }] },
  ]);
  const project = "/organizations/org_1/projects/prj_1";
  const made = await commandLine(["api", "post", `${project}/environments`, "--data", "-"], {
    environment,
    stdin: '{"name":"A","value":"b"}',
  });
  expect([made.code, JSON.parse(made.stdout).environment.name]).toEqual([0, "A"]);
  expect(await commandLine(["api", "GET", "/nothing"], { environment })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("not_found"),
  });
  expect(await commandLine(["api", "GET", "nothing"], { environment })).toMatchObject({ code: 2 });
});

test("variables go into a file and back as they are, and one is printed as it is", async () => {
  const hard = { id: "env_1", name: "HARD", value: 'a "b" $c \\n\n# d' };
  const plain = { id: "env_2", name: "PLAIN", value: "x" };
  await using service = await contractService({ environments: [hard, plain] });
  using home = folderWith({});
  const { environment } = service;
  const run = (words: string[]) => commandLine(words, { environment, workingFolder: home.path });
  expect(await run(["env", "pull"])).toMatchObject({ code: 0, stdout: "" });
  expect(statSync(join(home.path, ".env")).mode & 0o777).toBe(0o600);
  expect((await run(["env", "pull"])).stderr).toContain("Use --force");
  await run(["env", "push"]);
  // Nothing is written again when every value is the same.
  expect(service.calls().filter((call) => call.startsWith("PUT") || call.startsWith("POST"))).toEqual([]);
  expect((await run(["env", "get", "HARD"])).stdout).toBe(hard.value);
});

test("an empty value with spaces after it is empty, and not the next line", async () => {
  await using service = await contractService();
  using home = folderWith({ ".env": "A=   \nB=1\nexport C = \t\r\nD=two # words\n" });
  const { environment } = service;
  const pushed = await commandLine(["env", "push", "--json"], { environment, workingFolder: home.path });
  expect(JSON.parse(pushed.stdout)).toEqual({ names: ["A", "B", "C", "D"] });
  const sent = service.asked.filter(({ call }) => call.startsWith("POST")).map(({ body }) => JSON.parse(String(body)));
  expect(sent).toEqual([
    { name: "A", value: "" },
    { name: "B", value: "1" },
    { name: "C", value: "" },
    { name: "D", value: "two" },
  ]);
});

test("a stack trace is shown with --debug only", async () => {
  using home = folderWith({ ".slipway/local.json": "{" });
  const plain = await commandLine(["whoami"], { workingFolder: home.path });
  expect(plain.stderr.split("\n")).toHaveLength(2);
  expect((await commandLine(["whoami", "--debug"], { workingFolder: home.path })).stderr).toMatch(/\n\s+at /);
});
