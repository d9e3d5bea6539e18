import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Behavior, cloud } from "../../local/behavior.ts";
import { startService } from "../../local/service.ts";
import { writeApp } from "./app-archive.ts";
import { jsonOf, type Measured, median } from "./measure.ts";

const rounds = 5;
const pollMs = 50;
/** The time that the pipeline may add to that of AWS itself. */
const addedMsMax = 5_000;

/** The delays of a deployment under `cloud`, without faults of single calls, because faults would make the rounds differ. */
const drainMs = 4_000;
const uploadEventMs = 500;
const { ecs, codeBuild, ...others } = cloud();
const behavior: Behavior = {
  ...others,
  codeBuild,
  s3: { deliveriesMs: () => [uploadEventMs, 2 * uploadEventMs] },
  ecs: { ...ecs, drained: (_, signal) => sleep(drainMs, undefined, { signal }) },
  faults: undefined,
};
const imageMs = uploadEventMs + codeBuild.provisioningMs + codeBuild.statusMs;
const rolloutMs = ecs.placementMs + ecs.registrationMs + 2 * ecs.stageMs;

interface Project {
  path: string;
  key: string;
}

/** Milliseconds from the start of the upload to the build's own time of becoming `ready`. */
async function uploadToReady({ path, key }: Project, archive: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const created = await jsonOf(fetch(`${path}/builds`, { method: "POST", headers }));
  const began = Date.now();
  const type = { "content-type": "application/zip" };
  await fetch(created.url, { method: "PUT", headers: type, body: readFileSync(archive) });
  for (;;) {
    await sleep(pollMs);
    const { build } = await jsonOf(fetch(`${path}/builds/${created.build.id}`, { headers }));
    if (build.status === "ready") return Date.parse(build.updatedAt) - began;
    if (build.status === "error") throw new Error(build.error);
  }
}

function measured(name: string, added: readonly number[], awsMs: number): Measured {
  const ms = median(added);
  const detail = `${ms.toFixed(0)} ms beyond the ${awsMs} ms of the simulated AWS`;
  return { name, ratio: ms / addedMsMax, bound: 1, detail };
}

/** What the pipeline adds to the simulated delays of AWS: to a deployment, and to one that waits for the last one's draining. */
export async function benchCloud(): Promise<Measured[]> {
  const home = mkdtempSync(join(tmpdir(), "bench-cloud-"));
  const archive = join(home, "app.zip");
  await writeApp(archive, "cloud");
  const service = await startService({ home: join(home, "slipway"), port: 0, behavior });
  try {
    const seed = JSON.parse(readFileSync(join(home, "slipway", "local.json"), "utf8"));
    const path = `${seed.baseUrl}/organizations/${seed.organizationId}/projects/${seed.projectId}`;
    const project = { path, key: `${seed.accessKey}:${seed.secretKey}` };
    const [alone, waiting]: [number[], number[]] = [[], []];
    await uploadToReady(project, archive);
    for (let round = 0; round < rounds; round += 1) {
      await sleep(drainMs + 2 * ecs.staleMs);
      alone.push((await uploadToReady(project, archive)) - imageMs - rolloutMs);
      // The next deployment can start when the last one has drained its old version; its image is built meanwhile.
      waiting.push((await uploadToReady(project, archive)) - drainMs - rolloutMs);
    }
    return [
      measured("deployment under cloud: added / 5 s", alone, imageMs + rolloutMs),
      measured("deployment that waits for draining under cloud: added / 5 s", waiting, drainMs + rolloutMs),
    ];
  } finally {
    await service.stop();
    rmSync(home, { recursive: true, force: true });
  }
}
