import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Docker } from "../../local/containers/docker.ts";
import { findEngine } from "../../local/containers/engine.ts";
import { prepareBaseImages } from "../images/base-images.ts";
import { zipFile } from "./app-archive.ts";
import { uploadToReady } from "./deploy.ts";
import { buildByHand, imageSizes, nodeDockerfile, nodeHello } from "./image-sizes.ts";
import { type Measured, mebibytes, median, startProcess, untilAnswers } from "./measure.ts";

const [warmUps, rounds] = [2, 5];
const readyMsMax = 3_000;

/** `docker build && docker run`, until the first answer. */
async function byHand(docker: Docker, folder: string, text: string): Promise<number> {
  const began = performance.now();
  await buildByHand(docker, folder, nodeHello(text), nodeDockerfile);
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
  const deploy = async () => {
    count += 1;
    return uploadToReady(service, await zipFile(join(folder, "app.zip"), nodeHello(`answer ${count}`)));
  };
  try {
    const measured: Measured[] = [];
    for (let round = 0; round < warmUps; round += 1) {
      await deploy();
      await byHand(docker, join(folder, "hand"), `warm ${round}`);
    }
    const ours: number[] = [];
    const theirs: number[] = [];
    const before = blobs(service.home);
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await deploy());
      theirs.push(await byHand(docker, join(folder, "hand"), `hand ${round}`));
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
    measured.push(...(await imageSizes(docker, service, folder)));
    return measured;
  } finally {
    await service.stop();
    await docker.run(["rmi", "--force", "slipway-bench"]).catch(() => undefined);
    for (const path of [folder, service.home]) rmSync(path, { recursive: true, force: true });
  }
}
