import { parentPort, workerData } from "node:worker_threads";
import * as z from "zod";
import { errorFields, log } from "../../lambdas/http/log.ts";
import type { ThreadAnswer } from "./function-thread.ts";
import type { Handler } from "./functions.ts";

const callSchema = z.object({ id: z.int(), use: z.int(), event: z.unknown(), context: z.unknown() });
const { path } = z.object({ path: z.string() }).parse(workerData);

let loaded: { use: number; module: Promise<{ handler: Handler }> } | undefined;

/** The function of the service that uses this thread now; that of another service knows other addresses. */
function load(use: number): Promise<{ handler: Handler }> {
  if (loaded?.use === use) return loaded.module;
  const version = use === 1 ? "" : `?use=${use}`;
  const module: Promise<{ handler: Handler }> = import(
    new URL(`../../lambdas/${path}.ts${version}`, import.meta.url).href
  );
  module.catch((error: unknown) => log("error", `${path} could not be loaded`, errorFields(error)));
  loaded = { use, module };
  return module;
}

async function answer(message: unknown): Promise<ThreadAnswer> {
  const { id, use, event, context } = callSchema.parse(message);
  try {
    const { handler } = await load(use);
    return { id, result: await handler(event, context) };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { id, error: { name, message } };
  }
}

parentPort?.on("message", async (message: unknown) => parentPort?.postMessage(await answer(message)));
