import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildFailedReason } from "../../lambdas/pipeline/model/failures.ts";
import { engineOfTests, noEngine } from "./engine.ts";
import { buildImage, type Fault } from "./image.ts";

const app = (build: string) => ({
  "package.json": { scripts: { start: "node server.js", build } },
  "server.js": "",
});

/** The error that the user of a failed build reads. */
async function errorOf(files: ReturnType<typeof app>, fault: Fault = {}): Promise<string> {
  const { image, log } = await buildImage(files, {}, fault);
  expect(image).toBeNull();
  return buildFailedReason(log.split("\n"));
}

/** The engine behind a socket of its own, which can be taken away. */
async function engineThatStops() {
  const dir = mkdtempSync(join(tmpdir(), "slipway-socket-"));
  const engine = engineOfTests();
  const connections = new Set<Socket>();
  const server = createServer((client) => {
    const real = connect(new URL(engine.host).pathname);
    client.pipe(real).pipe(client);
    for (const one of [client, real]) connections.add(one.on("error", () => one.destroy()));
  });
  const path = join(dir, "docker.sock");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const stop = () => {
    server.close();
    for (const one of connections) one.destroy();
    rmSync(dir, { recursive: true, force: true });
  };
  const host = `unix://${path}`;
  return { engine: { ...engine, host, env: { ...engine.env, DOCKER_HOST: host } }, stop };
}

describe.skipIf(noEngine)("a build that fails says what happened", () => {
  test("the engine stops in the middle of it", async () => {
    const { engine, stop } = await engineThatStops();
    const onLine = (line: string) => void (line.includes("the build has begun") && stop());
    const error = await errorOf(app("echo the build has begun && sleep 20"), { engine, onLine });
    expect(error).toContain("the Docker engine stopped during the build. Start it, and build again.");
  });

  test("its base image cannot be pulled", async () => {
    const dockerfile = (text: string) => text.replaceAll(/^FROM public\.ecr\.aws\/\S+/gm, "FROM 127.0.0.1:9/none:1");
    const error = await errorOf(app("true"), { dockerfile });
    expect(error).toContain("its base image 127.0.0.1:9/none:1 could not be pulled.");
  });

  test("the disk that its command writes to is full", async () => {
    const error = await errorOf(app("dd if=/dev/zero of=/dev/shm/full bs=1M count=100"));
    expect(error).toContain("failed with exit code 1");
    expect(error).toContain("No space left on device");
  });

  test("the machine ends its command because the memory is full", async () => {
    const error = await errorOf(app("kill -9 $$"));
    expect(error).toContain("npm run build failed with exit code 137");
    expect(error).toMatch(/memory/);
  });
});
