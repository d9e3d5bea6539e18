import { setTimeout as delay } from "node:timers/promises";
import type { RawService } from "../aws/service.ts";
import { ContainersRefused } from "../start-refused.ts";
import { startStsServer } from "../sts/server.ts";
import type { TaskCredentials } from "../sts/task-credentials.ts";
import { type ContainerRunner, type ContainerRunnerOptions, createContainerRunner } from "./container-runner.ts";
import type { DockerEngine } from "./engine.ts";
import { createEngineApi } from "./engine-api.ts";
import { openHostAccess } from "./host-access.ts";
import { homeLabels } from "./labels.ts";
import { removeAbandoned, removeLeftovers } from "./leftovers.ts";
import { createNetworks } from "./networks.ts";

const closeMsMax = 700;

export interface ContainerBackend {
  runner: ContainerRunner;
  /** The STS endpoint that containers use. */
  stsEndpoint: string;
  /** Lets containers reach the API; returns its host and port for them. Must be called before a task starts. */
  openApi(port: number): Promise<string>;
  close(): Promise<void>;
}

/**
 * Prepares an engine for the tasks of one data folder: removes the containers that an earlier process left, and opens the
 * addresses that containers may reach. Throws ContainersRefused if an engine (a rootless one) gives this machine no such address.
 */
export async function startContainerBackend(options: {
  engine: DockerEngine;
  home: string;
  credentials: TaskCredentials;
  /** STS and the credentials of tasks. */
  services: RawService[];
  imageOf: ContainerRunnerOptions["imageOf"];
}): Promise<ContainerBackend> {
  const api = createEngineApi(new URL(options.engine.host).pathname);
  await removeLeftovers(api, options.home, options.engine.host);
  const labels = homeLabels(options.home);
  const networks = createNetworks(api, labels);
  const [hostAccess] = await Promise.all([
    openHostAccess(api, (port, address) => startStsServer(options.services, port, address)).catch((error: unknown) => {
      throw new ContainersRefused(`containers of the Docker engine cannot reach this machine (${String(error)}).`);
    }),
    networks.adopt(),
  ]);
  // In the background. If it fails, the next start tries again.
  void removeAbandoned(api).catch(() => undefined);
  let apiHost: string | undefined;
  const runner = createContainerRunner({
    api,
    labels,
    networks,
    imageOf: options.imageOf,
    credentials: async (taskId) => {
      await hostAccess.restore();
      return options.credentials.variables(taskId, hostAccess.stsEndpoint);
    },
    serviceUrl: () => apiHost && `http://${apiHost}`,
  });
  return {
    runner,
    stsEndpoint: hostAccess.stsEndpoint,
    async openApi(port) {
      apiHost = await hostAccess.openApi(port);
      return apiHost;
    },
    async close() {
      runner.close();
      // The service must end soon; its next start removes what is left.
      await Promise.race([networks.close(), delay(closeMsMax, undefined, { ref: false })]);
      await hostAccess.close();
      api.close();
    },
  };
}
