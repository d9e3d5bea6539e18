import { parentPort, workerData } from "node:worker_threads";
import * as z from "zod";
import { errorFields, log } from "../../lambdas/http/log.ts";
import type { ThreadAnswer } from "./function-thread.ts";
import type { Handler } from "./functions.ts";

const callSchema = z.object({ id: z.int(), event: z.unknown(), context: z.unknown() });
const { path } = z.object({ path: z.string() }).parse(workerData);

const loading = import(new URL(`../../lambdas/${path}.ts`, import.meta.url).href);
loading.catch((error: unknown) => log("error", `${path} could not be loaded`, errorFields(error)));

async function answer(message: unknown): Promise<ThreadAnswer> {
  const { id, event, context } = callSchema.parse(message);
  try {
    const { handler }: { handler: Handler } = await loading;
    return { id, result: await handler(event, context) };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { id, error: { name, message } };
  }
}

parentPort?.on("message", async (message: unknown) => parentPort?.postMessage(await answer(message)));
