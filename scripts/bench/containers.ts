import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import type { Docker } from "../../local/containers/docker.ts";
import { findEngine } from "../../local/containers/engine.ts";
import { prepareBaseImages } from "../images/base-images.ts";
import { uploadToReady } from "./deploy.ts";
import { type Measured, median, type ServiceProcess, startProcess, untilAnswers } from "./measure.ts";

const [warmUps, rounds] = [2, 5];
const readyMsMax = 3_000;

type Files = Record<string, string>;

const nodeHello = (text: string): Files => ({
  "package.json": JSON.stringify({ name: "bench", private: true, scripts: { start: "node server.js" } }),
  "server.js": `require("node:http").createServer((q, r) => r.end(${JSON.stringify(text)})).listen(process.env.PORT || 8080);`,
});
const express = (text: string): Files => ({
  "package.json": JSON.stringify({
    name: "bench",
    private: true,
    scripts: { start: "node server.js" },
    dependencies: { express: "^5.1.0" },
  }),
  "server.js": `require("express")().get("/", (q, r) => r.send(${JSON.stringify(text)})).listen(process.env.PORT || 8080);`,
});

/** The Dockerfile that guides to Node.js in containers give. */
const common = `FROM public.ecr.aws/docker/library/node:24-bookworm-slim
WORKDIR /app
COPY package*.json ./
RUN npm install --omit=dev
COPY . .
EXPOSE 8080
CMD ["node", "server.js"]
`;

async function zipFile(path: string, files: Files): Promise<string> {
  const zip = new ZipFile();
  for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  writeFileSync(path, await buffer(zip.outputStream));
  return path;
}

/** `docker build && docker run`, until the first answer. */
async function byHand(docker: Docker, folder: string, files: Files, text: string): Promise<number> {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries({ ...files, Dockerfile: common }))
    writeFileSync(join(folder, name), content);
  const began = performance.now();
  await docker.run(["build", "--quiet", "--tag", "slipway-bench", folder]);
  const id = await docker.run(["run", "--detach", "--publish", "127.0.0.1::8080", "slipway-bench"]);
  await untilAnswers(`http://${await docker.run(["port", id, "8080"])}`, text);
  const took = performance.now() - began;
  await docker.run(["rm", "--force", id]);
  return took;
}

/** The sizes of the blobs that a registry has. */
function blobs(home: string): Map<string, number> {
  const folder = join(home, "ecr", "blobs");
  if (!existsSync(folder)) return new Map();
  return new Map(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).size]));
}
const sum = (sizes: Iterable<number>) => [...sizes].reduce((all, size) => all + size, 0);

/** The size of an image in the engine. */
const sizeOf = async (docker: Docker, name: string) =>
  Number(await docker.run(["image", "inspect", "--format", "{{.Size}}", name]));

/** The image that the engine got from this service last. */
async function newestImage(docker: Docker, service: ServiceProcess): Promise<string> {
  const ports: { ecr?: number } = JSON.parse(readFileSync(join(service.home, "ports.json"), "utf8"));
  const project = service.project.split("/").at(-1);
  const list = ["image", "ls", "--format", "{{.Repository}}:{{.Tag}}"];
  const names = await docker.run([...list, `127.0.0.1:${ports.ecr}/slipway-apps/${project}`]);
  const [newest = ""] = names.split("\n").filter((name) => name.includes(":bld_"));
  return newest;
}

const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Compares deployments in containers with `docker build && docker run` of a common Dockerfile. */
export async function benchContainers(): Promise<Measured[]> {
  const engine = await findEngine(process.env);
  if (engine.kind === "none") {
    console.log(`containers are not measured: ${engine.reason}`);
    return [];
  }
  const { docker } = engine;
  await prepareBaseImages(docker, console.log);
  const folder = mkdtempSync(join(tmpdir(), "bench-containers-"));
  const service = await startProcess(undefined, { SLIPWAY_CONTAINERS: "docker" });
  let count = 0;
  const deploy = async (app: (text: string) => Files) => {
    count += 1;
    return uploadToReady(service, await zipFile(join(folder, "app.zip"), app(`answer ${count}`)));
  };
  try {
    const measured: Measured[] = [];
    for (let round = 0; round < warmUps; round += 1) {
      await deploy(nodeHello);
      await byHand(docker, join(folder, "hand"), nodeHello(`warm ${round}`), `warm ${round}`);
    }
    const ours: number[] = [];
    const theirs: number[] = [];
    const before = blobs(service.home);
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await deploy(nodeHello));
      theirs.push(await byHand(docker, join(folder, "hand"), nodeHello(`hand ${round}`), `hand ${round}`));
    }
    const [mine, hand] = [median(ours), median(theirs)];
    const after = blobs(service.home);
    const pushed = sum([...after].filter(([name]) => !before.has(name)).map(([, size]) => size)) / rounds;
    measured.push(
      {
        name: "containers: upload to ready / 3 s",
        ratio: mine / readyMsMax,
        bound: 1,
        detail: `${mine.toFixed(0)} ms, warm`,
      },
      {
        name: "containers: upload to ready / docker build && docker run",
        ratio: mine / hand,
        bound: 1.5,
        detail: `${mine.toFixed(0)} ms against ${hand.toFixed(0)} ms until the first answer`,
      },
      {
        name: "containers: pushed by a change of source / the whole image",
        ratio: pushed / sum(before.values()),
        bound: 0.01,
        detail: `${pushed.toFixed(0)} bytes, manifests and cache included, of ${mebibytes(sum(before.values()))}`,
      },
    );
    for (const [name, app] of Object.entries({ "node-hello": nodeHello, Express: express })) {
      await deploy(app);
      await byHand(docker, join(folder, name), app("size"), "size");
      const [image, usual] = [
        await sizeOf(docker, await newestImage(docker, service)),
        await sizeOf(docker, "slipway-bench"),
      ];
      const detail = `${mebibytes(image)} against ${mebibytes(usual)} of a common Dockerfile`;
      measured.push({ name: `containers: size of ${name}'s image`, ratio: image / usual, bound: 1, detail });
    }
    return measured;
  } finally {
    await service.stop();
    await docker.run(["rmi", "--force", "slipway-bench"]).catch(() => undefined);
    for (const path of [folder, service.home]) rmSync(path, { recursive: true, force: true });
  }
}
