import { inContainerPaths } from "../process/container-paths.ts";
import { findExecutable } from "../process/executable.ts";
import { type ProcessGroup, spawnProcessGroup } from "../process/process-group.ts";
import { newTaskId } from "./arns.ts";
import { type PortMap, taskEnvironment, taskMark } from "./environment.ts";
import { freePort } from "./free-port.ts";
import { createLineCutter } from "./output-lines.ts";
import type { TaskDefinitionRecord, TaskRecord } from "./records.ts";
import { taskAddress } from "./task-address.ts";

/** The local image of an image reference. */
export interface ResolvedImage {
  cwd: string;
  command: string[];
  env: Record<string, string>;
}

/** The functions and settings of the host that tasks need. */
export interface TaskHost {
  resolveImage(imageRef: string): Promise<ResolvedImage>;
  taskCredentials?(taskId: string): Record<string, string> | Promise<Record<string, string>>;
  log(line: { logGroup: string; logStream: string; timestamp: number; message: string }): void;
  portMap: PortMap;
  /** Resolves when the simulated placement and image pull are done. */
  placed(): Promise<void>;
  now(): number;
}

/** Why a task starts, and what differs from its definition. */
export interface TaskStart {
  startedBy: string;
  /** Replaces the command of the image and of the container. */
  command?: readonly string[] | undefined;
  /** The task starts no process before `release` is called. */
  isHeld?: boolean;
}

export interface Task {
  /** Lets a held task start its process. */
  release(): void;
  record: TaskRecord;
  definition: TaskDefinitionRecord;
  /** The address at which the gateway reaches the task, set when it starts. */
  address: string;
  port: number;
  /** Adds a line to the task's output; repeated lines are ignored. */
  note(text: string): void;
  /** Resolves with the process group id when the process runs, or with undefined if it could not be started. */
  started: Promise<number | undefined>;
  stopped: Promise<void>;
  /** Sends SIGTERM, and SIGKILL after the task's stopTimeout (at most `graceMsMax`). */
  stop(code: "ServiceSchedulerInitiated" | "UserInitiated", reason: string, graceMsMax?: number): Promise<void>;
}

const stopTimeoutSeconds = 30;

export function containerPortOf({ containerDefinitions: [container] }: TaskDefinitionRecord): number {
  return container.portMappings?.[0]?.containerPort ?? 80;
}

function outputOf(host: TaskHost, definition: TaskDefinitionRecord, taskId: string, cwd: string) {
  const [container] = definition.containerDefinitions;
  const options = container.logConfiguration?.options ?? {};
  const logGroup = options["awslogs-group"];
  const prefix = options["awslogs-stream-prefix"];
  if (container.logConfiguration?.logDriver !== "awslogs" || !logGroup) return { write: () => {}, end: () => {} };
  const logStream = prefix ? `${prefix}/${container.name}/${taskId}` : taskId;
  const shown = inContainerPaths(cwd);
  const cutter = () =>
    createLineCutter((line) => host.log({ logGroup, logStream, timestamp: host.now(), message: shown(line) }));
  const cutters = { stdout: cutter(), stderr: cutter() };
  return {
    write: (stream: "stdout" | "stderr", chunk: Buffer) => cutters[stream].write(chunk),
    end: () => {
      cutters.stdout.end();
      cutters.stderr.end();
    },
  };
}

class LocalTask implements Task {
  readonly record: TaskRecord;
  readonly definition: TaskDefinitionRecord;
  address = "";
  port = 0;
  readonly started: Promise<number | undefined>;
  readonly stopped: Promise<void>;
  readonly #host: TaskHost;
  readonly #noted = new Set<string>();
  #process: ProcessGroup | undefined;
  #output: ReturnType<typeof outputOf> | undefined;
  readonly #command: readonly string[] | undefined;
  readonly #held = Promise.withResolvers<void>();

  constructor(host: TaskHost, definition: TaskDefinitionRecord, { startedBy, command, isHeld }: TaskStart) {
    const [container] = definition.containerDefinitions;
    this.#host = host;
    this.#command = command;
    if (!isHeld) this.release();
    this.definition = definition;
    this.record = {
      id: newTaskId(),
      taskDefinition: definition.taskDefinitionArn,
      startedBy,
      containerName: container.name,
      image: container.image,
      lastStatus: "PROVISIONING",
      desiredStatus: "RUNNING",
      health: "UNKNOWN",
      createdAt: host.now(),
    };
    const launched = this.#launch().catch((error: unknown) => {
      this.#failToStart(`CannotStartContainerError: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    });
    this.started = launched.then((process) => process?.pid);
    this.stopped = launched.then(async (process) => {
      if (process) this.#exited(await process.exited);
    });
  }

  release(): void {
    this.#held.resolve();
  }

  async #launch(): Promise<ProcessGroup | undefined> {
    const { record, definition } = this;
    const [container] = definition.containerDefinitions;
    await this.#held.promise;
    await this.#host.placed();
    const image = await this.#host.resolveImage(container.image).catch((error: unknown) => {
      this.#failToStart(`CannotPullContainerError: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    });
    if (!image) return undefined;
    const credentials = (await this.#host.taskCredentials?.(record.id)) ?? {};
    [this.address, this.port] = await Promise.all([taskAddress(), freePort()]);
    const own = Object.fromEntries((container.environment ?? []).map(({ name, value }) => [name, value]));
    const place = { containerPort: containerPortOf(definition), port: this.port, address: this.address };
    const env = taskEnvironment(record.id, [image.env, credentials, own], place, this.#host.portMap);
    const override = this.#command ?? [...(container.entryPoint ?? []), ...(container.command ?? [])];
    const [command = "", ...args] = override.length > 0 ? override : image.command;
    if (!findExecutable(command, image.cwd, env.PATH ?? ""))
      throw new Error(`exec: "${command}": executable file not found in $PATH`);
    if (record.desiredStatus === "STOPPED") return this.#failToStart(record.stoppedReason ?? "Task stopped");
    return this.#spawn(command, args, image.cwd, env);
  }

  note(text: string): void {
    if (this.#noted.has(text)) return;
    this.#noted.add(text);
    this.#output?.write("stdout", Buffer.from(`${text}\n`));
  }

  #spawn(command: string, args: string[], cwd: string, env: Record<string, string>): ProcessGroup {
    const output = outputOf(this.#host, this.definition, this.record.id, cwd);
    this.#output = output;
    this.record.lastStatus = "RUNNING";
    this.record.startedAt = this.#host.now();
    const reports = { onOutput: output.write, onExit: output.end };
    this.#process = spawnProcessGroup(command, args, { cwd, env, mark: taskMark, ...reports });
    return this.#process;
  }

  #failToStart(reason: string): undefined {
    this.#end("TaskFailedToStart", reason);
  }

  #exited(exit: { exitCode: number; failedToStart?: string }): void {
    if (exit.failedToStart) {
      delete this.record.startedAt;
      this.#failToStart(`CannotStartContainerError: ${exit.failedToStart}`);
      return;
    }
    this.record.exitCode = exit.exitCode;
    this.#end("EssentialContainerExited", "Essential container in task exited");
  }

  #end(code: NonNullable<TaskRecord["stopCode"]>, reason: string): void {
    const { record } = this;
    record.stopCode ??= code;
    record.stoppedReason ??= reason;
    record.lastStatus = "STOPPED";
    record.desiredStatus = "STOPPED";
    record.health = "UNKNOWN";
    record.stoppedAt = this.#host.now();
    record.stoppingAt ??= record.stoppedAt;
  }

  async stop(
    code: "ServiceSchedulerInitiated" | "UserInitiated",
    reason: string,
    graceMsMax = Number.POSITIVE_INFINITY,
  ) {
    const { record } = this;
    if (record.desiredStatus === "RUNNING") {
      record.desiredStatus = "STOPPED";
      record.stopCode = code;
      record.stoppedReason = reason;
      record.stoppingAt = this.#host.now();
      if (record.lastStatus === "RUNNING") record.lastStatus = "STOPPING";
    }
    const [container] = this.definition.containerDefinitions;
    const graceMs = (container.stopTimeout ?? stopTimeoutSeconds) * 1000;
    await this.#process?.stop(Math.max(1, Math.min(graceMs, graceMsMax)));
    await this.stopped;
  }
}

/** Starts one task. It throws no errors; a failed start is in the task's record. */
export function startTask(host: TaskHost, definition: TaskDefinitionRecord, start: TaskStart): Task {
  return new LocalTask(host, definition, start);
}
