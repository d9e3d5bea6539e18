import { containerPortOf, type TaskDefinitionRecord } from "../ecs/records.ts";
import { type HomeLabels, label, labelsOf } from "./labels.ts";

/** More processes and threads than an app needs, but few enough that a fork bomb does not harm the machine. */
const processesMax = 512;
const mebibyte = 1024 * 1024;

export interface ContainerSpec {
  labels: HomeLabels;
  project: string;
  taskId: string;
  image: string;
  network: string;
  definition: TaskDefinitionRecord;
  command: readonly string[] | undefined;
  env: Record<string, string>;
}

function commandOf({ definition, command }: ContainerSpec): object {
  const [container] = definition.containerDefinitions;
  if (command) return { Entrypoint: [], Cmd: command };
  return {
    ...(container.entryPoint && { Entrypoint: container.entryPoint }),
    ...(container.command && { Cmd: container.command }),
  };
}

function limitsOf({ definition }: ContainerSpec): object {
  const memory = Number(definition.memory ?? 0) * mebibyte;
  return {
    // Without swap, as on AWS.
    ...(memory > 0 && { Memory: memory, MemorySwap: memory }),
    // A share instead of a fixed limit: an app may use idle processors, but cannot take them from other apps.
    ...(definition.cpu && { CpuShares: Math.max(2, Number(definition.cpu)) }),
    PidsLimit: processesMax,
  };
}

/** The request body that creates a task's container. */
export function containerBody(spec: ContainerSpec): object {
  const { labels, project, taskId, image, network, definition, env } = spec;
  const [container] = definition.containerDefinitions;
  const port = `${containerPortOf(definition)}/tcp`;
  const isReadOnly = container.readonlyRootFilesystem === true;
  return {
    Image: image,
    ...commandOf(spec),
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...(container.user !== undefined && { User: container.user }),
    ExposedPorts: { [port]: {} },
    Labels: { ...labelsOf(labels), [label.project]: project, [label.task]: taskId },
    HostConfig: {
      ...limitsOf(spec),
      NetworkMode: network,
      // Any free port, reachable only from this machine.
      PortBindings: { [port]: [{ HostIp: "127.0.0.1", HostPort: "" }] },
      Init: container.linuxParameters?.initProcessEnabled ?? false,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      ReadonlyRootfs: isReadOnly,
      ...(isReadOnly && { Tmpfs: { "/tmp": "rw,nosuid,nodev,mode=1777" } }),
      // The output is read as it is written; the engine keeps no copy of it.
      LogConfig: { Type: "none" },
      RestartPolicy: { Name: "no" },
    },
  };
}
