import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Engine, findEngine } from "../../local/containers/engine.ts";
import { hasBaseImages } from "../../scripts/images/base-images.ts";

/** The base image of apps with Node.js; scripts/images/base-images.ts prepares it. */
export const nodeImage = "public.ecr.aws/docker/library/node:24-bookworm-slim";

/** Set by CI, which starts the engine and builds the base images during the first tests: this file says that both have ended. */
export const preparedFile = process.env.CONTAINERS_PREPARED;
/** Tests with containers that would begin later are skipped, in seconds since 1970: CI has no time for them. */
const until = Number(process.env.CONTAINER_TESTS_UNTIL ?? Number.POSITIVE_INFINITY);
const isTooLate = (): boolean => Date.now() / 1000 > until;

const skipped = (reason: string): Engine => {
  process.stderr.write(`tests with containers are skipped: ${reason}\n`);
  return { kind: "none", reason };
};

/** The Docker engine that can build and run apps, or the reason why tests with containers are skipped. */
export async function testEngine(): Promise<Engine> {
  while (preparedFile && !existsSync(preparedFile) && !isTooLate()) await sleep(500);
  if (isTooLate()) return skipped("CI took so long that no time was left for them.");
  const engine = await findEngine(process.env);
  if (engine.kind === "none" || (await hasBaseImages(engine.docker))) return engine;
  return skipped("the engine has no base images. Run npx node scripts/images/base-images.ts");
}
