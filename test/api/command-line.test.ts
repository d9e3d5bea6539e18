import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { userOfToken } from "../../local/seed.ts";
import { type Running, startRunning } from "../harness/service.ts";
import { commandLine, folderWith, slipway } from "../unit/cli/slipway.ts";

const app = `require("node:http").createServer((request, response) => {
  console.log("asked for " + request.url);
  response.end("hello");
}).listen(process.env.PORT);`;

describe("the command line on a service", () => {
  let running: Running;
  let environment: Record<string, string>;
  const home = folderWith({ "app/package.json": '{"scripts":{"start":"node server.js"}}', "app/server.js": app });

  beforeAll(async () => {
    running = await startRunning();
    environment = { SLIPWAY_HOME: running.home, SLIPWAY_CONFIG: join(home.path, "config") };
  }, 60_000);
  afterAll(async () => {
    await running.stop();
    home[Symbol.dispose]();
  });

  const run = (words: string[], more: Parameters<typeof slipway>[1] = {}) => {
    const options = { workingFolder: home.path, ...more, environment: { ...environment, ...more.environment } };
    return more.onNote || more.onResult ? slipway(words, options) : commandLine(words, options);
  };
  const ok = async (words: string[]) => {
    const finished = await run(words);
    expect([finished.code, finished.code === 0 ? "" : finished.stderr]).toEqual([0, ""]);
    return finished.stdout;
  };
  const json = async (words: string[]) => JSON.parse(await ok([...words, "--json"]));

  test("projects are created, listed, renamed, and deleted by their name", async () => {
    const id = (await ok(["projects", "create", "Shop"])).trim();
    expect(await ok(["projects", "list"])).toMatch(new RegExp(`^${id}  .*  Shop$`, "m"));
    await ok(["projects", "rename", id, "Web shop"]);
    expect((await json(["projects", "list"])).projects[0]).toMatchObject({ id, name: "Web shop" });
    expect(await run(["projects", "delete", id])).toMatchObject({ code: 2 });
    const wrong = await run(["projects", "delete", id, "--confirm", "Shop"]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("confirm")]);
    expect(await json(["projects", "delete", id, "--confirm", "Web shop"])).toEqual({ project: id });
    expect(await ok(["projects", "list"])).not.toContain(id);
  });

  test("settings are set, read and left to detection; a wrong one is told before it is sent", async () => {
    await ok(["settings", "set", "healthPath=/health", "instances=2"]);
    expect(await ok(["settings", "get", "healthPath"])).toBe("/health\n");
    expect(await json(["settings", "get", "instances"])).toEqual({ instances: 2 });
    await ok(["settings", "unset", "healthPath", "instances"]);
    expect(await ok(["settings", "get"])).toMatch(/^healthPath +\(detected\)$/m);
    for (const wrong of ["port=80", "healthPath", "healthPath=health", "instances=99", "memory=lots"]) {
      expect(await run(["settings", "set", wrong])).toMatchObject({ code: 2 });
    }
  });

  test("domains are added, listed and removed", async () => {
    await ok(["domains", "add", "www.example.com"]);
    expect(await ok(["domains", "list"])).toMatch(/^www\.example\.com {2}pending/);
    expect(await json(["domains", "remove", "www.example.com"])).toEqual({ domain: "www.example.com" });
    expect(await ok(["domains", "list"])).toBe("");
  });

  test("databases and storages are created and listed", async () => {
    for (const kind of ["databases", "storages"]) {
      const id = (await ok([kind, "create", "Orders"])).trim();
      expect(await ok([kind, "list"])).toMatch(new RegExp(`^${id}  .*  Orders$`, "m"));
    }
  });

  test("the console is opened by a new link that signs in; by the installed command, by its address", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join("cli", "main.ts"), "console", "--json"], {
      env: { ...process.env, ...environment },
    });
    const { url, expiresAt } = JSON.parse(stdout);
    expect(url).toMatch(/^http:\/\/localhost:\d+\/console\/sign-in#code=sll_\w+$/);
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
    const code = new URL(url).hash.slice("#code=".length);
    const signIn = await running.call("POST", "/console/session", { body: { code } });
    expect(signIn.status).toBe(201);
    const elsewhere = {
      SLIPWAY_HOME: join(home.path, "none"),
      SLIPWAY_URL: "http://127.0.0.1:9",
      SLIPWAY_TOKEN: "any",
    };
    expect((await run(["console"], { environment: elsewhere })).stdout).toBe("http://localhost:9/console\n");
  });

  test("members are invited, get another role by their address, and are removed", async () => {
    const invited = await ok(["members", "invite", "ada@example.com", "--name", "Ada"]);
    expect(invited).toMatch(/^http:\/\/localhost:\d+\/console\/sign-in#code=sll_\w+\n$/);
    expect(await ok(["members", "list"])).toMatch(/member {2}ada@example\.com +Ada$/m);
    await ok(["members", "role", "ADA@example.com", "admin"]);
    expect(await ok(["members", "list"])).toMatch(/admin {2}ada@example\.com +Ada$/m);
    await ok(["members", "remove", "ada@example.com"]);
    const gone = await run(["members", "remove", "ada@example.com"]);
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining("There is no member ada@example.com.")]);
    expect(await run(["members", "invite", "eve@example.com", "--role", "king"])).toMatchObject({ code: 2 });
  });

  test("a token is created with its bounds, used, listed and deleted", async () => {
    const words = ["tokens", "create", "--description", "CI", "--access", "read", "--expires-in-days", "1"];
    const value = (await ok(words)).trim();
    const asToken = { environment: { SLIPWAY_TOKEN: value } };
    expect(await run(["projects", "list"], asToken)).toMatchObject({ code: 0 });
    const refused = await run(["projects", "create", "No"], asToken);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("This token does not allow this")]);
    const [{ id }] = (await json(["tokens", "list"])).tokens;
    expect(await ok(["tokens", "list"])).toMatch(new RegExp(`^${id}  read  until .* CI$`, "m"));
    expect(await json(["tokens", "delete", id])).toEqual({ token: id });
    expect(await run(["projects", "list"], asToken)).toMatchObject({ code: 1 });
    expect(await run(["tokens", "create", "--expires-in-days", "0"])).toMatchObject({ code: 2 });
  });

  /** What the console's page does when its user agrees. */
  const agree = async (page: URL): Promise<string> => {
    const { url } = (await running.operator("create-sign-in-link", {
      userId: userOfToken(running.seed.token),
    })) as unknown as { url: string };
    const signIn = { code: url.split("#code=")[1] };
    const { body } = await running.call("POST", "/console/session", { bearer: null, body: signIn });
    const { tool, access, challenge } = Object.fromEntries(page.searchParams);
    const organizationIds = page.searchParams.getAll("organization");
    const agreed = await running.call("POST", "/console/connect", {
      bearer: body.session.token,
      body: { tool, access, challenge, organizationIds: organizationIds.length > 0 ? organizationIds : null },
    });
    expect(agreed.status).toBe(201);
    return String(agreed.body.code);
  };

  test("login gets a token of the agreed access through the console, and logout deletes it", async () => {
    let visited: Promise<unknown> | undefined;
    const { baseUrl, organizationId } = running.seed;
    const words = ["login", "--url", baseUrl, "--access", "read", "--organization", organizationId, "--profile", "me"];
    const login = await run(words, {
      environment: { DISPLAY: ":0", PATH: home.path },
      onNote: (stderr) => {
        const address = /^http\S+\/console\/connect\?\S+$/m.exec(stderr)?.[0];
        if (address === undefined) return;
        const page = new URL(address);
        visited ??= agree(page).then((code) =>
          fetch(
            `${page.searchParams.get("redirect")}?${new URLSearchParams({ code, state: page.searchParams.get("state") ?? "" })}`,
          ),
        );
      },
    });
    await visited;
    expect([login.code, login.stderr]).toEqual([0, expect.stringContaining("Logged in")]);
    const listed = async () => (await json(["tokens", "list"])).tokens;
    const made = (await listed()).find(({ description }: { description: string }) => description === "slipway");
    expect(made).toMatchObject({ access: "read", organizationIds: [organizationId] });
    expect(await run(["whoami", "--profile", "me"])).toMatchObject({ code: 0 });
    expect(await run(["projects", "create", "No", "--profile", "me"])).toMatchObject({ code: 1 });
    expect(await run(["logout", "--profile", "me"])).toMatchObject({ code: 0 });
    expect((await listed()).map(({ id }: { id: string }) => id)).not.toContain(made.id);
  });

  test("the output of the app is printed, searched and followed until Ctrl-C", async () => {
    const [address = ""] = (await ok(["deploy", "app", "--title", "One"])).split("\n");
    for (const path of ["first", "second"]) await fetch(new URL(path, address));
    await expect.poll(() => ok(["logs", "--app"]), { timeout: 20_000 }).toMatch(/asked for \/second$/m);
    const found = await ok(["logs", "--app", "--search", "ASKED FOR /f", "--json"]);
    expect(JSON.parse(found)).toMatchObject({ text: "asked for /first" });
    let asked: Promise<unknown> | undefined;
    const followed = await run(["logs", "--app", "--follow", "--search", "asked for"], {
      onResult: (stdout, kill) => {
        if (stdout.includes("/second")) asked ??= fetch(new URL("third", address));
        if (stdout.includes("/third")) kill("SIGINT");
      },
    });
    await asked;
    expect(followed.code).toBe(130);
    for (const path of ["first", "second", "third"])
      expect(followed.stdout.split(`asked for /${path}\n`)).toHaveLength(2);
    expect(await ok(["logs", "--search", "no line has this"])).toBe("");
    expect(await run(["logs", "--since", "2026-01-01T00:00:00Z"])).toMatchObject({ code: 2 });
  });
});
