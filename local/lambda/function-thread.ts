import { Worker } from "node:worker_threads";
import * as z from "zod";
import type { Handler } from "./functions.ts";

const answerSchema = z.union([
  z.object({ id: z.int(), result: z.unknown() }),
  z.object({ id: z.int(), error: z.object({ name: z.string(), message: z.string() }) }),
]);
export type ThreadAnswer = z.infer<typeof answerSchema>;

interface Thread {
  worker: Worker;
  pending: Map<number, PromiseWithResolvers<unknown>>;
}

/** A function that runs in another thread. */
export interface FunctionThread {
  handler: Handler;
  close(): Promise<void>;
}

/** One for all services of the process: its modules take 0.4 s to load. */
let thread: Thread | undefined;
let lastCall = 0;
let lastInstance = 0;

function startThread(): Thread {
  const worker = new Worker(new URL("./function-worker.ts", import.meta.url), { execArgv: [] });
  const started: Thread = { worker, pending: new Map() };
  const end = (error: Error) => {
    if (thread === started) thread = undefined;
    for (const call of started.pending.values()) call.reject(error);
    started.pending.clear();
  };
  worker.on("message", (message) => {
    const answer = answerSchema.parse(message);
    const call = started.pending.get(answer.id);
    started.pending.delete(answer.id);
    if (started.pending.size === 0) worker.unref();
    if ("error" in answer) call?.reject(Object.assign(new Error(answer.error.message), { name: answer.error.name }));
    else call?.resolve(answer.result);
  });
  worker.on("error", end);
  worker.on("exit", () => end(new Error("The thread of the function has ended.")));
  return started;
}

/** Ends these calls; the thread too if it computes nothing else, so that a long computation ends with its service. */
async function endCalls({ worker, pending }: Thread, ids: ReadonlySet<number>): Promise<void> {
  const own = [...pending].filter(([id]) => ids.has(id));
  if (own.length === 0) return;
  if (own.length === pending.size) return void (await worker.terminate());
  for (const [id, call] of own) {
    pending.delete(id);
    call.reject(new Error("The service of the function has ended."));
  }
}

/**
 * Runs a function's calls in another thread, which the first call starts, so that long computations do not block other
 * requests. The function is loaded with the environment of its first call, and a process's services load one each. If the
 * thread ends (out of memory), its running calls fail and the next call starts a new thread.
 */
export function functionThread(path: string): FunctionThread {
  lastInstance += 1;
  const instance = lastInstance;
  const calls = new Set<number>();
  let environment: NodeJS.ProcessEnv | undefined;
  return {
    async handler(event, context) {
      environment ??= { ...process.env };
      thread ??= startThread();
      const { worker, pending } = thread;
      const call = Promise.withResolvers<unknown>();
      lastCall += 1;
      const id = lastCall;
      pending.set(id, call);
      calls.add(id);
      worker.ref();
      const message = { id, path, instance, environment, event, context: JSON.parse(JSON.stringify(context)) };
      worker.postMessage(message);
      return call.promise.finally(() => calls.delete(id));
    },
    async close() {
      if (thread) await endCalls(thread, calls);
    },
  };
}
