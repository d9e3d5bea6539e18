import { expect, test } from "vitest";
import { readHomeInEngine } from "../../local/containers/labels.ts";
import { address, deploy, nodeApp } from "../harness/app.ts";
import { nodeImage, testEngine } from "../harness/engine.ts";
import { startRunning } from "../harness/service.ts";

const engine = await testEngine();
const docker = (...args: string[]) => (engine.kind === "docker" ? engine.docker.run(args) : Promise.reject());

test.skipIf(engine.kind === "none")(
  "a start with an engine, and one without it again, serves the live apps of the same data folder at their addresses",
  { timeout: 180_000 },
  async () => {
    const first = await startRunning();
    const app = nodeApp("res.end(process.cwd() === '/app' ? 'container' : 'process')");
    expect((await deploy(first, app)).status).toBe("ready");
    const url = await address(first);
    const answer = async () => (await fetch(url)).text().catch(() => "");
    expect(await answer()).toBe("process");
    await first.stop("keep");
    const second = await startRunning(first.home, { containers: "docker" });
    await expect.poll(answer, { timeout: 120_000 }).toBe("container");
    await second.stop("keep");
    // As after a SIGKILL of the second: a start without an engine must not leave its containers running.
    const name = `label=slipway.home=${readHomeInEngine(first.home)?.name}`;
    await docker("run", "--detach", "--label", name.replace("label=", ""), nodeImage, "sleep", "600");
    const third = await startRunning(first.home);
    expect(await docker("ps", "--all", "--quiet", "--filter", name)).toBe("");
    expect(await docker("network", "ls", "--quiet", "--filter", name)).toBe("");
    await expect.poll(answer, { timeout: 60_000 }).toBe("process");
    await third.stop();
  },
);
