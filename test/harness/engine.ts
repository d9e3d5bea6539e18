import { type Engine, findEngine } from "../../local/containers/engine.ts";

/** The Docker engine of this machine (scripts/images/engine.sh starts one), or the reason why tests with containers are skipped. */
export const testEngine = (): Promise<Engine> => findEngine(process.env);

/** The base image of apps with Node.js; scripts/images/base-images.ts prepares it. */
export const nodeImage = "public.ecr.aws/docker/library/node:24-bookworm-slim";

/** Whether this machine has a Docker engine that can build and run apps with Node.js. */
export async function engineHasBaseImages(): Promise<boolean> {
  const engine = await testEngine();
  if (engine.kind === "none") return false;
  return engine.docker.run(["image", "inspect", nodeImage]).then(
    () => true,
    () => false,
  );
}
