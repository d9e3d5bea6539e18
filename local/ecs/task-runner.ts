import type { Usage } from "../process/group-usage.ts";
import type { TaskDefinitionRecord } from "./records.ts";

/** The image of a task is not available; the message says why. */
export class CannotPull extends Error {}

/** Where the output of one task goes. */
export interface TaskOutput {
  write(stream: "stdout" | "stderr", chunk: Buffer): void;
  /** Writes an unfinished last line. */
  end(): void;
}

export interface RunRequest {
  taskId: string;
  definition: TaskDefinitionRecord;
  /** Replaces the command of the image and of the container definition. */
  command: readonly string[] | undefined;
  /** Aborts when the task must stop before it has started. */
  signal: AbortSignal;
  /** Called once, before the first output; `shown` changes each line before it is stored. */
  openOutput(shown?: (line: string) => string): TaskOutput;
}

export interface TaskExit {
  /** 128 + the number of a signal, as in a container; undefined if it is unknown. */
  exitCode: number | undefined;
  /** Why the task ended, if the exit code does not say it. */
  reason?: string;
  /** Set when nothing could be started at all. */
  failedToStart?: string;
}

/** A socket on which a task listens. */
export interface TaskSocket {
  address: string;
  port: number;
  /** At the port to which the gateway sends requests. */
  isExpected: boolean;
  /** At an address that the gateway reaches. */
  isReachable: boolean;
}

export interface RunningTask {
  /** The address and port at which the gateway reaches the task. */
  address: string;
  port: number;
  exited: Promise<TaskExit>;
  /** The sockets on which it listens; undefined if they cannot be read. */
  sockets(): Promise<TaskSocket[] | undefined>;
  /** What the task uses; undefined if it cannot be read. */
  usage(): Promise<Usage | undefined>;
  /** Whether a connection to a task that does not listen is opened and then closed, because a proxy accepts it. */
  isProxied: boolean;
  /** Sends SIGTERM and, after `graceMs`, SIGKILL; resolves when the task has ended. */
  stop(graceMs: number): Promise<unknown>;
}

/** Runs tasks in one of two ways: as processes of this machine, or as containers of an engine. */
export interface TaskRunner {
  /** Rejects if the task cannot be started: with CannotPull if its image is not available. */
  start(request: RunRequest): Promise<RunningTask>;
  /** Resolves when starts can succeed again after the engine was away; then no back-off is needed. */
  back?(signal: AbortSignal): Promise<void>;
}
