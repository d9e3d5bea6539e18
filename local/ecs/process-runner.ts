import { inContainerPaths } from "../process/container-paths.ts";
import { findExecutable } from "../process/executable.ts";
import { createUsageReader } from "../process/group-usage.ts";
import { listeningSockets } from "../process/listening.ts";
import { spawnProcessGroup } from "../process/process-group.ts";
import { type PortMap, taskEnvironment, taskMark } from "./environment.ts";
import { freePort } from "./free-port.ts";
import { containerPortOf, type TaskDefinitionRecord } from "./records.ts";
import { taskAddress } from "./task-address.ts";
import { CannotPull, type RunningTask, type RunRequest, type TaskRunner } from "./task-runner.ts";

/** The local image of an image reference. */
export interface ResolvedImage {
  cwd: string;
  command: string[];
  env: Record<string, string>;
}

export interface ProcessRunnerOptions {
  /** Finds the local image of a reference; a rejection is a failed image pull. */
  resolveImage(imageRef: string, definition: TaskDefinitionRecord): Promise<ResolvedImage>;
  /** Variables to add to a task's environment; the task definition overrides them. */
  taskCredentials?(taskId: string): Record<string, string> | Promise<Record<string, string>>;
  portMap: PortMap;
}

interface Place {
  address: string;
  port: number;
  containerPort: number;
}

const anyAddress = new Set(["0.0.0.0", "::"]);

async function socketsOf(pid: number | undefined, { address, port }: Place) {
  const found = pid === undefined ? undefined : await listeningSockets(pid);
  return found?.map((socket) => ({
    ...socket,
    isExpected: socket.port === port,
    isReachable: anyAddress.has(socket.address) || socket.address === address,
  }));
}

/** Runs tasks as processes of this machine, each at a port of its own. */
export function createProcessRunner({ resolveImage, taskCredentials, portMap }: ProcessRunnerOptions): TaskRunner {
  async function environmentOf(request: RunRequest, image: ResolvedImage, place: Place) {
    const [container] = request.definition.containerDefinitions;
    const credentials = (await taskCredentials?.(request.taskId)) ?? {};
    const own = Object.fromEntries((container.environment ?? []).map(({ name, value }) => [name, value]));
    return taskEnvironment(request.taskId, [image.env, credentials, own], place, portMap);
  }

  function commandOf({ definition, command }: RunRequest, image: ResolvedImage, path: string): [string, string[]] {
    const [container] = definition.containerDefinitions;
    const override = command ?? [...(container.entryPoint ?? []), ...(container.command ?? [])];
    const [program = "", ...args] = override.length > 0 ? override : image.command;
    if (!findExecutable(program, image.cwd, path))
      throw new Error(`exec: "${program}": executable file not found in $PATH`);
    return [program, args];
  }

  const usageOf = createUsageReader();
  return {
    async start(request): Promise<RunningTask> {
      const { definition } = request;
      const image = await resolveImage(definition.containerDefinitions[0].image, definition).catch((error: unknown) => {
        throw new CannotPull(error instanceof Error ? error.message : String(error));
      });
      const place = await placeFor(request.definition);
      const env = await environmentOf(request, image, place);
      const [program, args] = commandOf(request, image, env.PATH ?? "");
      request.signal.throwIfAborted();
      const output = request.openOutput(inContainerPaths(image.cwd));
      const group = spawnProcessGroup(program, args, {
        cwd: image.cwd,
        env,
        mark: taskMark,
        onOutput: output.write,
        onExit: output.end,
      });
      return {
        address: place.address,
        port: place.port,
        exited: group.exited,
        sockets: () => socketsOf(group.pid, place),
        usage: async () => (group.pid === undefined ? undefined : usageOf(group.pid)),
        isProxied: false,
        stop: (graceMs) => group.stop(graceMs),
      };
    },
  };
}

async function placeFor(definition: TaskDefinitionRecord): Promise<Place> {
  const [address, port] = await Promise.all([taskAddress(), freePort()]);
  return { address, port, containerPort: containerPortOf(definition) };
}
