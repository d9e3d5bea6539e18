import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { containerPortOf, type TaskDefinitionRecord } from "../ecs/records.ts";
import { CannotPull, type RunningTask, type RunRequest, type TaskRunner, type TaskSocket } from "../ecs/task-runner.ts";
import { parseListening } from "../process/listening.ts";
import { containerBody } from "./container-spec.ts";
import { usageOfContainer } from "./container-usage.ts";
import { type EngineApi, EngineGone, EngineRefused } from "./engine-api.ts";
import { createEngineWatch } from "./engine-watch.ts";
import type { HomeLabels } from "./labels.ts";
import type { ProjectNetworks } from "./networks.ts";
import { createFrameReader } from "./output-frames.ts";
import { openStreams, RunningContainer } from "./running-container.ts";

export interface ContainerRunnerOptions {
  api: EngineApi;
  /** The labels of the data folder. */
  labels: HomeLabels;
  networks: ProjectNetworks;
  /** Pulls an image if needed and returns its name in the engine; a rejection means that the pull failed. */
  imageOf(reference: string, definition: TaskDefinitionRecord): Promise<string>;
  /** Variables of a task: its credentials. The task definition overrides them. */
  credentials(taskId: string): Promise<Record<string, string>> | Record<string, string>;
  /** The service's address for containers; replaces the one in the task definition. */
  serviceUrl(): string | undefined;
}

export interface ContainerRunner extends TaskRunner {
  /** Ends background work; call it after the tasks were stopped. */
  close(): void;
}

const created = z.object({ Id: z.string() });
const inspected = z.object({
  NetworkSettings: z.object({ Ports: z.record(z.string(), z.array(z.object({ HostPort: z.string() })).nullable()) }),
});
/** How long a stop waits for the removal of the container, which takes longer if the engine does not answer. */
const removedMsMax = 1_000;
/** The engine's name server listens at this address in each container. */
const engineResolver = "127.0.0.11";

/** The project of an image: the last part of its repository's name. */
function projectOfImage(reference: string): string {
  const [repository = ""] = reference.split(/[@:](?=[^/]*$)/);
  return repository.slice(repository.lastIndexOf("/") + 1);
}

/** Reduces the runtime's error message to its cause. */
function shortened(error: unknown): unknown {
  if (!(error instanceof EngineRefused)) return error;
  const cause = /exec: .*?(?=: unknown|$)/s.exec(error.message)?.[0];
  return cause === undefined ? error : new Error(cause);
}

function socketsIn(tables: string, port: number): TaskSocket[] {
  return parseListening(tables)
    .filter(({ address }) => address !== engineResolver)
    .map(({ address, port: own }) => ({
      address,
      port: own,
      isExpected: own === port,
      isReachable: !address.startsWith("127.") && address !== "::1",
    }))
    .sort((a, b) => a.port - b.port);
}

/** Runs tasks as containers of a Docker engine (docs/isolation.md). */
export function createContainerRunner(options: ContainerRunnerOptions): ContainerRunner {
  const { api, labels, networks } = options;
  const watch = createEngineWatch(api);
  const closing = new AbortController();

  /** Removes a container now, or when the engine is back. */
  async function remove(id: string): Promise<void> {
    for (;;) {
      try {
        await api.perform("DELETE", `/containers/${id}`, { query: { force: true, v: true } });
        return;
      } catch (error) {
        if (!(watch.note(error) instanceof EngineGone) || closing.signal.aborted) return;
        await watch.answering(closing.signal).catch(() => undefined);
      }
    }
  }

  /** Names of images in the engine, by reference. An image that was deleted from the engine is pulled again. */
  const images = new Map<string, string>();

  async function imageOf(reference: string, definition: TaskDefinitionRecord): Promise<string> {
    const found = images.get(reference) ?? (await options.imageOf(reference, definition));
    images.set(reference, found);
    return found;
  }

  async function create(request: RunRequest, project: string): Promise<{ Id: string }> {
    const { taskId, definition, command } = request;
    const [container] = definition.containerDefinitions;
    const image = await imageOf(container.image, definition).catch((error: unknown) => {
      throw new CannotPull(error instanceof Error ? error.message : String(error));
    });
    const own = Object.fromEntries((container.environment ?? []).map(({ name, value }) => [name, value]));
    const url = options.serviceUrl();
    const env = {
      ...(await options.credentials(taskId)),
      ...own,
      ...(own.SLIPWAY_URL && url && { SLIPWAY_URL: url }),
    };
    const network = await networks.ensure(project);
    const body = containerBody({ labels, project, taskId, image, network, definition, command, env });
    return api.call("POST", "/containers/create", created, { query: { name: `slipway-${taskId}` }, body });
  }

  async function portOf(id: string, containerPort: number): Promise<number> {
    const { NetworkSettings } = await api.call("GET", `/containers/${id}/json`, inspected);
    return Number(NetworkSettings.Ports[`${containerPort}/tcp`]?.[0]?.HostPort ?? 0);
  }

  async function socketsOf(id: string, containerPort: number): Promise<TaskSocket[] | undefined> {
    const Cmd = ["cat", "/proc/net/tcp", "/proc/net/tcp6"];
    const { Id } = await api.call("POST", `/containers/${id}/exec`, created, { body: { AttachStdout: true, Cmd } });
    const answer = await api.open("POST", `/exec/${Id}/start`, { body: { Detach: false, Tty: false } });
    const parts: Buffer[] = [];
    const read = createFrameReader((_, chunk) => parts.push(chunk));
    for await (const chunk of answer) read(chunk);
    const tables = Buffer.concat(parts).toString("utf8");
    return tables.includes("local_address") ? socketsIn(tables, containerPort) : undefined;
  }

  async function run(request: RunRequest, project: string): Promise<RunningTask> {
    const { Id: id } = await create(request, project).catch((error: unknown) => {
      const { image } = request.definition.containerDefinitions[0];
      if (!(error instanceof EngineRefused && error.status === 404 && images.delete(image))) throw error;
      return create(request, project);
    });
    try {
      request.signal.throwIfAborted();
      const streams = await openStreams(api, id);
      await api.open("POST", `/containers/${id}/start`).then(text);
      const containerPort = containerPortOf(request.definition);
      const container = new RunningContainer({ api, watch }, id, streams, request.openOutput());
      const port = await portOf(id, containerPort).catch(() => 0);
      const removed = container.exited.then(() => {
        networks.leave(project);
        return remove(id);
      });
      return {
        address: "127.0.0.1",
        port,
        exited: container.exited,
        sockets: () => socketsOf(id, containerPort),
        usage: () => usageOfContainer(api, id).catch(() => undefined),
        isProxied: true,
        stop: async (graceMs) => {
          await container.stop(graceMs);
          await Promise.race([removed, delay(removedMsMax, undefined, { ref: false })]);
        },
      };
    } catch (error) {
      void remove(id);
      throw error;
    }
  }

  return {
    async start(request) {
      const project = projectOfImage(request.definition.containerDefinitions[0].image);
      networks.enter(project);
      try {
        return await run(request, project);
      } catch (error) {
        networks.leave(project);
        // Another program may have removed the network; the next start creates it again.
        networks.forget(project);
        throw shortened(watch.note(error));
      }
    },
    back: (signal) => watch.back(signal),
    close: () => closing.abort(),
  };
}
