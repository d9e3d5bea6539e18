import { setTimeout as sleep } from "node:timers/promises";
import { type Engine, findEngine } from "../../local/containers/engine.ts";
import { hasBaseImages } from "../../scripts/images/base-images.ts";

/** The Docker engine of this machine (scripts/images/engine.sh starts one), or the reason why tests with containers are skipped. */
export const testEngine = (): Promise<Engine> => findEngine(process.env);

/** The base image of apps with Node.js; scripts/images/base-images.ts prepares it. */
export const nodeImage = "public.ecr.aws/docker/library/node:24-bookworm-slim";

/** CI builds the base images while the first tests run. Tests with containers wait for them until this time, in seconds since 1970. */
const waitUntil = Number(process.env.BASE_IMAGES_UNTIL ?? 0);
/** True if another program makes the base images. */
export const areBaseImagesComing = waitUntil > 0;

/** Whether this machine has a Docker engine that can build and run apps. */
export async function engineHasBaseImages(): Promise<boolean> {
  const engine = await testEngine();
  if (engine.kind === "none") return false;
  while (!(await hasBaseImages(engine.docker))) {
    if (Date.now() / 1000 >= waitUntil) return false;
    await sleep(1000);
  }
  return true;
}
