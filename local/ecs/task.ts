import { newTaskId } from "./arns.ts";
import { createLineCutter } from "./output-lines.ts";
import type { TaskDefinitionRecord, TaskRecord } from "./records.ts";
import { CannotPull, type RunningTask, type TaskExit, type TaskOutput, type TaskRunner } from "./task-runner.ts";

/** The functions and settings of the host that tasks need. */
export interface TaskHost {
  runner: TaskRunner;
  log(line: { logGroup: string; logStream: string; timestamp: number; message: string }): void;
  /** Resolves when the simulated placement and image pull are done. */
  placed(): Promise<void>;
  now(): number;
}

/** Why a task starts, and what differs from its definition. */
export interface TaskStart {
  startedBy: string;
  /** Replaces the command of the image and of the container. */
  command?: readonly string[] | undefined;
  /** The task does not start before `release` is called. */
  isHeld?: boolean;
}

export interface Task {
  /** Lets a held task start. */
  release(): void;
  record: TaskRecord;
  definition: TaskDefinitionRecord;
  /** Adds a line to the task's output; repeated lines are ignored. */
  note(text: string): void;
  /** Resolves when the task runs, or with undefined if it could not be started. */
  started: Promise<RunningTask | undefined>;
  stopped: Promise<void>;
  /** Sends SIGTERM, and SIGKILL after the task's stopTimeout (at most `graceMsMax`). */
  stop(code: "ServiceSchedulerInitiated" | "UserInitiated", reason: string, graceMsMax?: number): Promise<void>;
}

const stopTimeoutSeconds = 30;

function outputOf(
  host: TaskHost,
  definition: TaskDefinitionRecord,
  taskId: string,
  shown = (line: string) => line,
): TaskOutput {
  const [container] = definition.containerDefinitions;
  const options = container.logConfiguration?.options ?? {};
  const logGroup = options["awslogs-group"];
  const prefix = options["awslogs-stream-prefix"];
  if (container.logConfiguration?.logDriver !== "awslogs" || !logGroup) return { write: () => {}, end: () => {} };
  const logStream = prefix ? `${prefix}/${container.name}/${taskId}` : taskId;
  const cutter = () =>
    createLineCutter((line) => host.log({ logGroup, logStream, timestamp: host.now(), message: shown(line) }));
  const cutters = { stdout: cutter(), stderr: cutter() };
  return {
    write: (stream, chunk) => cutters[stream].write(chunk),
    end: () => {
      cutters.stdout.end();
      cutters.stderr.end();
    },
  };
}

class LocalTask implements Task {
  readonly record: TaskRecord;
  readonly definition: TaskDefinitionRecord;
  readonly started: Promise<RunningTask | undefined>;
  readonly stopped: Promise<void>;
  readonly #host: TaskHost;
  readonly #noted = new Set<string>();
  #output: TaskOutput | undefined;
  readonly #command: readonly string[] | undefined;
  readonly #held = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();

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
    this.started = this.#launch().catch((error: unknown) => this.#failToStart(error));
    this.stopped = this.started.then(async (running) => {
      if (running) this.#exited(await running.exited);
    });
  }

  release(): void {
    this.#held.resolve();
  }

  async #launch(): Promise<RunningTask> {
    const { record, definition } = this;
    await this.#held.promise;
    await this.#host.placed();
    const running = await this.#host.runner.start({
      taskId: record.id,
      definition,
      command: this.#command,
      signal: this.#stopping.signal,
      openOutput: (shown) => {
        this.#output = outputOf(this.#host, definition, record.id, shown);
        return this.#output;
      },
    });
    record.lastStatus = record.desiredStatus === "STOPPED" ? "STOPPING" : "RUNNING";
    record.startedAt = this.#host.now();
    return running;
  }

  note(text: string): void {
    if (this.#noted.has(text)) return;
    this.#noted.add(text);
    this.#output?.write("stdout", Buffer.from(`${text}\n`));
  }

  #failToStart(error: unknown): undefined {
    const kind = error instanceof CannotPull ? "CannotPullContainerError" : "CannotStartContainerError";
    this.#end("TaskFailedToStart", `${kind}: ${error instanceof Error ? error.message : String(error)}`);
  }

  #exited({ exitCode, reason, failedToStart }: TaskExit): void {
    if (failedToStart !== undefined) {
      delete this.record.startedAt;
      this.#failToStart(failedToStart);
      return;
    }
    if (exitCode !== undefined) this.record.exitCode = exitCode;
    if (reason !== undefined) this.record.exitReason = reason;
    const unknown = exitCode === undefined ? reason : undefined;
    this.#end("EssentialContainerExited", unknown ?? "Essential container in task exited");
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
      this.#stopping.abort();
    }
    const [container] = this.definition.containerDefinitions;
    const graceMs = (container.stopTimeout ?? stopTimeoutSeconds) * 1000;
    // A task that is just being started is stopped as soon as it runs, unless its start is given up.
    const running = await this.started;
    await running?.stop(Math.max(1, Math.min(graceMs, graceMsMax)));
    await this.stopped;
  }
}

/** Starts one task. It throws no errors; a failed start is in the task's record. */
export function startTask(host: TaskHost, definition: TaskDefinitionRecord, start: TaskStart): Task {
  return new LocalTask(host, definition, start);
}
