import { type OutputStream, spawnProcessGroup } from "./process-group.ts";

export interface RunOptions {
  cwd: string;
  env: Record<string, string>;
  onOutput?(stream: OutputStream, chunk: Buffer): void;
  /** See `mark` of ProcessGroupOptions. */
  mark?: string;
  /** After this time the whole group is killed. */
  timeoutMs?: number;
  /** An abort kills the whole group at once. */
  signal?: AbortSignal;
}

export interface RunResult {
  exitCode: number;
  endedBy: "exit" | "timeout" | "abort";
  failedToStart?: string;
}

/**
 * Runs a command to its end, then kills the processes that it started; resolves when all have ended. It never rejects:
 * failures are in the result.
 */
export async function runProcessGroup(command: string, args: string[], options: RunOptions): Promise<RunResult> {
  if (options.signal?.aborted) return { exitCode: 137, endedBy: "abort" };
  const child = spawnProcessGroup(command, args, options);
  let endedBy: RunResult["endedBy"] = "exit";
  const kill = (reason: "timeout" | "abort") => {
    endedBy = reason;
    void child.stop(0);
  };
  const onAbort = () => kill("abort");
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(() => kill("timeout"), options.timeoutMs);
  const { exitCode, failedToStart } = await child.exited;
  await child.gone;
  clearTimeout(timer);
  options.signal?.removeEventListener("abort", onAbort);
  return { exitCode, endedBy, ...(failedToStart === undefined ? {} : { failedToStart }) };
}
