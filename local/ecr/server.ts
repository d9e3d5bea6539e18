import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { JsonService } from "../aws/service.ts";
import { ImageMissing } from "../codebuild/image.ts";
import { useClientConfig } from "../containers/client-config.ts";
import { createDocker } from "../containers/docker.ts";
import type { DockerEngine } from "../containers/engine.ts";
import { createEngineApi } from "../containers/engine-api.ts";
import { names } from "../names.ts";
import { deleteFolderImages } from "./folder-images.ts";
import { ecrOperations } from "./operations.ts";
import { startRegistry } from "./registry.ts";
import { ImageStore } from "./store.ts";

export interface Ecr {
  service: JsonService;
  /** The first part of image names for the engine, `127.0.0.1:<port>`. */
  host: string;
  /**
   * Makes sure that the engine has the image of a task definition (`local/slipway-apps/<project>@sha256:…`), and returns
   * the name by which the engine knows it. Rejects with ImageMissing if there is no such image, with DockerFailed if it cannot be
   * pulled, and with EngineGone.
   */
  pull(image: string, engine: Pick<DockerEngine, "host" | "env">, signal?: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** The image names of task definitions are the same with every port. */
const localPrefix = `${names.images.split("/")[0]}/`;

/** A call instead of a program, because every task waits for it. */
async function hasImage(host: string, name: string, signal: AbortSignal | undefined): Promise<boolean> {
  const api = createEngineApi(new URL(host).pathname);
  try {
    return await api.perform("GET", `/images/${name}/json`, { signal });
  } finally {
    api.close();
  }
}

/** The embedded ECR: its calls, and the registry with which builders and engines exchange images. */
export async function createEcr(options: {
  dir: string;
  port: number;
  /** Where else a repository's images are: in the engine that pulled them, and in the folder of those made without one. */
  copies?: { engine: DockerEngine; imagesDir: string };
}): Promise<Ecr> {
  mkdirSync(options.dir, { recursive: true });
  const store = new ImageStore(options.dir);
  const password = randomBytes(24).toString("base64url");
  const registry = await startRegistry({ store, password, port: options.port });

  /** Deletes a repository's images here, in the engine, and among those that were made without one. */
  async function remove(name: string): Promise<boolean> {
    const wasStored = store.delete(name);
    if (!options.copies) return wasStored;
    const { docker } = options.copies.engine;
    const ids = await docker.run(["image", "ls", "--quiet", "--no-trunc", `${registry.host}/${name}`]);
    const distinct = [...new Set(ids.split("\n").filter(Boolean))];
    if (distinct.length > 0) await docker.run(["image", "rm", "--force", ...distinct]);
    return deleteFolderImages(options.copies.imagesDir, name) || wasStored;
  }

  return {
    service: { target: "AmazonEC2ContainerRegistry_V20150921", operations: ecrOperations(store, password, remove) },
    host: registry.host,
    async pull(image, { host, env }, signal) {
      const name = image.startsWith(localPrefix) ? `${registry.host}/${image.slice(localPrefix.length)}` : image;
      if (await hasImage(host, name, signal)) return name;
      const [repository = "", digest = ""] = name.slice(name.indexOf("/") + 1).split("@");
      if (name.startsWith(`${registry.host}/`) && !store.hasImage(repository, digest))
        throw new ImageMissing("The image is neither in the Docker engine nor in the registry of this machine.");
      const withPassword = useClientConfig(join(options.dir, "docker"), env, { [registry.host]: password });
      await createDocker(withPassword).run(["pull", "--quiet", name], { signal });
      return name;
    },
    close: registry.close,
  };
}
