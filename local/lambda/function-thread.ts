import { SHARE_ENV, Worker } from "node:worker_threads";
import * as z from "zod";
import type { Handler } from "./functions.ts";

const answerSchema = z.union([
  z.object({ id: z.int(), result: z.unknown() }),
  z.object({ id: z.int(), error: z.object({ name: z.string(), message: z.string() }) }),
]);
export type ThreadAnswer = z.infer<typeof answerSchema>;

type Pending = PromiseWithResolvers<unknown>;

/** A function that runs in its own thread. */
export interface FunctionThread {
  handler: Handler;
  close(): Promise<void>;
}

interface Thread {
  worker: Worker;
  pending: Map<number, Pending>;
  lastId: number;
  /** How many services have used it, one after the other. The function is loaded once for each. */
  uses: number;
  hasEnded: boolean;
}

declare global {
  var idleFunctionThreads: Map<string, Thread> | undefined;
}
/**
 * The threads of services that have ended, by function. The next service of this process takes them, because a new thread
 * loads the AWS SDK again. A global, because tests load this module again.
 */
globalThis.idleFunctionThreads ??= new Map();
const idle = globalThis.idleFunctionThreads;

function startThread(path: string): Thread {
  // Functions read the environment when they are loaded; that of this process is set anew for each service.
  const worker = new Worker(new URL("./function-worker.ts", import.meta.url), {
    workerData: { path },
    execArgv: [],
    env: SHARE_ENV,
  });
  const pending = new Map<number, Pending>();
  const thread: Thread = { worker, pending, lastId: 0, uses: 0, hasEnded: false };
  const end = (error: Error) => {
    thread.hasEnded = true;
    if (idle.get(path) === thread) idle.delete(path);
    for (const call of pending.values()) call.reject(error);
    pending.clear();
  };
  worker.on("message", (message) => {
    const answer = answerSchema.parse(message);
    const call = pending.get(answer.id);
    pending.delete(answer.id);
    if (pending.size === 0) worker.unref();
    if ("error" in answer) call?.reject(Object.assign(new Error(answer.error.message), { name: answer.error.name }));
    else call?.resolve(answer.result);
  });
  worker.on("error", end);
  worker.on("exit", () => end(new Error("The thread of the function has ended.")));
  return thread;
}

/**
 * Runs a function's calls in its own thread, which the first call starts, so that long computations do not block other
 * requests. If the thread ends (out of memory), its running calls fail and the next call starts a new thread.
 */
export function functionThread(path: string): FunctionThread {
  let running: Thread | undefined;

  function take(): Thread {
    const thread = idle.get(path) ?? startThread(path);
    idle.delete(path);
    thread.uses += 1;
    return thread;
  }

  return {
    async handler(event, context) {
      if (running === undefined || running.hasEnded) running = take();
      const { worker, pending, uses: use } = running;
      const call = Promise.withResolvers<unknown>();
      running.lastId += 1;
      pending.set(running.lastId, call);
      worker.ref();
      worker.postMessage({ id: running.lastId, use, event, context: JSON.parse(JSON.stringify(context)) });
      return call.promise;
    },
    async close() {
      const thread = running;
      running = undefined;
      if (thread === undefined || thread.hasEnded) return;
      if (thread.pending.size === 0 && !idle.has(path)) idle.set(path, thread);
      else await thread.worker.terminate();
    },
  };
}
