import { Worker } from "node:worker_threads";
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

/**
 * Runs a function's calls in its own thread, which the first call starts, so that long computations do not block other
 * requests. If the thread ends (out of memory), its running calls fail and the next call starts a new thread.
 */
export function functionThread(path: string): FunctionThread {
  let running: { worker: Worker; pending: Map<number, Pending> } | undefined;
  let lastId = 0;

  function start() {
    const pending = new Map<number, Pending>();
    const worker = new Worker(new URL("./function-worker.ts", import.meta.url), { workerData: { path }, execArgv: [] });
    const end = (error: Error) => {
      if (running?.worker === worker) running = undefined;
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
    return { worker, pending };
  }

  return {
    async handler(event, context) {
      running ??= start();
      const { worker, pending } = running;
      const call = Promise.withResolvers<unknown>();
      lastId += 1;
      pending.set(lastId, call);
      worker.ref();
      worker.postMessage({ id: lastId, event, context: JSON.parse(JSON.stringify(context)) });
      return call.promise;
    },
    async close() {
      await running?.worker.terminate();
    },
  };
}
