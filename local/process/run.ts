import { type OutputStream, spawnTethered } from "./process-group.ts";

export interface RunOptions {
  cwd: string;
  env: Record<string, string>;
  onOutput?(stream: OutputStream, chunk: Buffer): void;
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

/** Runs a command to its end, tethered to this process; never rejects: what went wrong is in the result. */
export async function runTethered(command: string, args: string[], options: RunOptions): Promise<RunResult> {
  if (options.signal?.aborted) return { exitCode: 137, endedBy: "abort" };
  const child = spawnTethered(command, args, options);
  let endedBy: RunResult["endedBy"] = "exit";
  const kill = (reason: "timeout" | "abort") => {
    endedBy = reason;
    void child.stop(0);
  };
  const onAbort = () => kill("abort");
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(() => kill("timeout"), options.timeoutMs);
  const { exitCode, failedToStart } = await child.exited;
  clearTimeout(timer);
  options.signal?.removeEventListener("abort", onAbort);
  return { exitCode, endedBy, ...(failedToStart === undefined ? {} : { failedToStart }) };
}
