import { rmSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

/** A thread in which PostgreSQL has started. */
export interface PostgresThread {
  worker: Worker;
  /** Resolves when the thread has ended, for whatever reason. */
  ended: Promise<void>;
  /** Lets PostgreSQL shut down; ends the thread if that takes longer than `graceMs`. Resolves when the thread has ended. */
  close(graceMs: number): Promise<void>;
}

export interface StartingThread {
  /** Resolves when PostgreSQL accepts statements; rejects when the thread ends before. */
  ready: Promise<PostgresThread>;
  /** As PostgresThread's; while PostgreSQL starts it cannot listen, so the thread is ended. */
  close(graceMs: number): Promise<void>;
}

/**
 * PostgreSQL refuses to start when this file is empty, as a SIGKILL between its creation and its first write leaves it.
 * The home's lock proves that no other process uses the folder, so the file is always stale here.
 */
function removeStalePidFile(folder: string): void {
  rmSync(join(folder, "postmaster.pid"), { force: true });
}

/** Starts PostgreSQL on a folder, in a thread of its own: WebAssembly does not yield, and the service has to go on serving. */
export function startPostgresThread(folder: string): StartingThread {
  removeStalePidFile(folder);
  const worker = new Worker(new URL("./postgres-worker.ts", import.meta.url), {
    workerData: { dir: folder },
    execArgv: [],
  });
  let reason: unknown;
  let isReady = false;
  // Not `once` of node:events: it rejects on "error", which comes before "exit", and then misses the exit.
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.on("error", (error) => {
    reason = error;
  });
  const close = async (graceMs: number) => {
    if (isReady) worker.postMessage("close");
    const timer = setTimeout(() => worker.terminate(), isReady ? graceMs : 0);
    await ended;
    clearTimeout(timer);
  };
  const ready = new Promise<PostgresThread>((resolve, reject) => {
    worker.once("message", () => {
      isReady = true;
      resolve({ worker, ended, close });
    });
    ended.then(() => reject(new Error("PostgreSQL ended while it started", { cause: reason })));
  });
  ready.catch(() => undefined);
  return { ready, close };
}
