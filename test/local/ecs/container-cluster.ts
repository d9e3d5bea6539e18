import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ContainerBackend, startContainerBackend } from "../../../local/containers/container-backend.ts";
import { findEngine } from "../../../local/containers/engine.ts";
import { stsService } from "../../../local/sts/server.ts";
import { openCredentials } from "../../../local/sts/store.ts";
import { createTaskCredentials } from "../../../local/sts/task-credentials.ts";
import { nodeImage } from "../../harness/engine.ts";

const roleArn = "arn:aws:iam::000000000000:role/slipway-app";

/** A container definition whose command is this code. */
export const running = (code: string, more: object = {}) => ({
  command: ["node", "--input-type=module", "--eval", code],
  user: "1000",
  linuxParameters: { initProcessEnabled: true },
  ...more,
});
export const app = readFileSync(join(import.meta.dirname, "fixtures/container-app.mjs"), "utf8");

/** The image of a task definition; each project has a network of its own. */
export const imageOf = (project: string) => `local/slipway-apps/${project}@sha256:${"0".repeat(64)}`;

/** The containers of a cluster in `dir`, in the machine's engine or behind another socket. Every image is the base image. */
export async function containersOf(dir: string, socket?: string): Promise<ContainerBackend> {
  const engine = await findEngine(process.env);
  if (engine.kind === "none") throw new Error(engine.reason);
  const store = openCredentials({ dir: join(dir, "sts") });
  let backend: ContainerBackend | undefined;
  const credentials = createTaskCredentials({
    store,
    roleArn,
    region: "us-east-1",
    endpoint: () => backend?.stsEndpoint ?? "",
  });
  backend = await startContainerBackend({
    engine: socket === undefined ? engine : { ...engine, host: `unix://${socket}` },
    home: dir,
    credentials,
    services: [credentials.service, stsService({ credentials: store })],
    imageOf: async () => nodeImage,
  });
  return backend;
}
