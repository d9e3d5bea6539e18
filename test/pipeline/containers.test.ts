import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { address, deploy, finished, nodeApp } from "../harness/app.ts";
import { testEngine } from "../harness/engine.ts";
import { type Running, startRunning } from "../harness/service.ts";

const backends = (await testEngine()).kind === "docker" ? (["none", "docker"] as const) : (["none"] as const);

/** An app that uses the official client, and the AWS SDK, without arguments. */
const client = async (): Promise<string> => {
  const code = `import { Slipway } from "./sdk/node.ts";
    import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
    globalThis.slipway = new Slipway();
    globalThis.identity = () => new STSClient({}).send(new GetCallerIdentityCommand({}));`;
  const options = { bundle: true, write: false, platform: "node", format: "cjs", minify: true } as const;
  const resolveDir = new URL("../..", import.meta.url).pathname;
  const bundled = await build({ stdin: { contents: code, resolveDir, loader: "ts" }, ...options });
  return bundled.outputFiles[0]?.text ?? "";
};

describe.each(backends)("deployments, with SLIPWAY_CONTAINERS=%s", (containers) => {
  let running: Running;
  let url: string;
  let firstId: string;
  beforeAll(async () => {
    running = await startRunning(undefined, { containers });
    const variable = { name: "GREETING", value: 'he said "hi $USER"\n\u{1F44B}' };
    await running.call("POST", `${running.project}/environments`, { body: variable });
    const own = "slipway.listOrganizations().then((list) => res.end(JSON.stringify(list)), (e) => res.end(String(e)));";
    const aws = "identity().then(({ Arn }) => res.end(Arn), (e) => res.end(String(e)));";
    const files = nodeApp(
      `if (req.url === "/own") return ${own} if (req.url === "/aws") return ${aws} if (req.url === "/exit") process.exit(9);
       if (req.url === "/say") console.log("said something"); res.end(process.env.GREETING);`,
      `require("./client.js");`,
    );
    const first = await deploy(running, { ...files, "client.js": await client() });
    expect(first).toMatchObject({ status: "ready", error: null });
    url = await address(running);
    firstId = first.id;
  });
  afterAll(() => running.stop());

  test("a variable's value arrives unchanged", async () => {
    expect(await (await fetch(url)).text()).toBe('he said "hi $USER"\n\u{1F44B}');
  });

  test("an app calls the API of its own organization without any key", async () => {
    const { seed } = running;
    expect(await (await fetch(`${url}/own`)).json()).toEqual({
      organizations: [{ id: seed.organizationId, name: "Local", role: null }],
    });
    const { body } = await running.call("GET", `${running.project}/credentials`);
    expect(body.credentials).toEqual([]);
  });

  test("an AWS SDK in an app finds the app's own identity without any key", async () => {
    expect(await (await fetch(`${url}/aws`)).text()).toMatch(/^arn:aws:sts::000000000000:assumed-role\/slipway-app\//);
  });

  test("the output of an app is in its log", async () => {
    await fetch(`${url}/say`);
    const texts = async () => {
      const { body } = await running.call("GET", `${running.project}/logs?limit=100`);
      return (body.lines as { text: string }[]).map(({ text }) => text);
    };
    await expect.poll(texts, { timeout: 30_000 }).toContain("said something");
  });

  test("an app that ends is started again at its address", async () => {
    await fetch(`${url}/exit`).catch(() => undefined);
    await expect.poll(async () => (await fetch(url)).status, { timeout: 30_000 }).toBe(200);
  });

  test("a version that ends before it is healthy leaves the old one serving; a kill for memory is named", async () => {
    const code =
      containers === "docker" ? "const all = []; for (;;) all.push(Buffer.alloc(32 << 20, 1));" : "process.exit(3);";
    const failed = await deploy(running, nodeApp("", code));
    expect(failed.status).toBe("error");
    expect(failed.error).toContain("the previous version keeps serving");
    expect(failed.error).toMatch(
      containers === "docker"
        ? /exited with code 137 after .* because it used more than its 512 MiB of memory/
        : /exited with code 3 after/,
    );
    expect((await fetch(url)).status).toBe(200);
  });

  test("a release command runs where the app runs, before it; one that fails leaves the old version serving", async () => {
    const release = (releaseCommand: string) => ({
      ...nodeApp('res.end("released")'),
      "slipway.json": JSON.stringify({ releaseCommand }),
    });
    const place = "$(case $AWS_ENDPOINT_URL_STS in *127.0.0.1*) echo process ;; *) echo container ;; esac)";
    const failed = await deploy(running, release(`echo "released in a ${place}" && exit 7`));
    expect(failed.status).toBe("error");
    expect(failed.error).toContain(`released in a ${containers === "docker" ? "container" : "process"}`);
    expect(failed.error).toContain("the previous version keeps serving");
    expect(await (await fetch(url)).text()).toContain("he said");
  });

  test("a new version replaces the old one without a lost request, and a rollback too", async () => {
    const answers: Promise<number>[] = [];
    const timer = setInterval(() => answers.push(fetch(url).then(({ status }) => status)), 50);
    const second = await deploy(running, nodeApp('res.end("second")'));
    expect(second.status).toBe("ready");
    expect(await (await fetch(url)).text()).toBe("second");
    const back = await running.call("POST", `${running.project}/builds/${firstId}/redeploy`);
    expect((await finished(running, back.body.build.id)).status).toBe("ready");
    expect(await (await fetch(url)).text()).toContain("he said");
    clearInterval(timer);
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
  });
});
