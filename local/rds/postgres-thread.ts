import { rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";

/** A thread in which PostgreSQL has started. */
export interface PostgresThread {
  worker: Worker;
  /** Resolves when the thread has ended, for any reason. */
  ended: Promise<void>;
  /** Shuts PostgreSQL down, and ends the thread if that takes longer than `graceMs`. Resolves when the thread has ended. */
  close(graceMs: number): Promise<void>;
}

export interface StartingThread {
  /** Resolves when PostgreSQL accepts statements; rejects if the thread ends before that. */
  ready: Promise<PostgresThread>;
  /** Like `close` of PostgresThread; a thread that is still starting reads no messages, so it is ended at once. */
  close(graceMs: number): Promise<void>;
}

/**
 * PostgreSQL does not start if this file is empty, which a SIGKILL between its creation and first write can cause. The
 * lock of the data folder ensures that no other process uses it, so the file is always stale here.
 */
function removeStalePidFile(folder: string): void {
  rmSync(join(folder, "postmaster.pid"), { force: true });
}

declare global {
  // Only TypeScript's DOM library declares this function.
  namespace WebAssembly {
    function compile(bytes: Uint8Array): Promise<Module>;
  }
}

let compiled: Promise<WebAssembly.Module | undefined> | undefined;

/**
 * PostgreSQL's code, compiled once in this process: a restart then takes a third of the processor time, and its machine
 * code is kept once. Undefined if it cannot be read: PGlite then reports what is missing.
 */
function postgresCode(): Promise<WebAssembly.Module | undefined> {
  const folder = dirname(findPackageJSON("@electric-sql/pglite", import.meta.url) ?? "");
  compiled ??= readFile(join(folder, "dist", "pglite.wasm")).then(
    (bytes) => WebAssembly.compile(bytes),
    () => undefined,
  );
  return compiled;
}

/** Starts PostgreSQL in its own thread, because WebAssembly does not yield to the event loop of the service. */
export function startPostgresThread(folder: string): StartingThread {
  removeStalePidFile(folder);
  const worker = new Worker(new URL("./postgres-worker.ts", import.meta.url), {
    workerData: { dir: folder },
    execArgv: [],
  });
  postgresCode().then((code) => worker.postMessage({ code }));
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
