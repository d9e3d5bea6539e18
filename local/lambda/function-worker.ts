import { parentPort } from "node:worker_threads";
import * as z from "zod";
import { errorFields, log } from "../../lambdas/http/log.ts";
import type { ThreadAnswer } from "./function-thread.ts";
import type { Handler } from "./functions.ts";

const callSchema = z.object({
  id: z.int(),
  path: z.string(),
  instance: z.int(),
  environment: z.record(z.string(), z.string()),
  event: z.unknown(),
  context: z.unknown(),
});
type Call = z.infer<typeof callSchema>;

const loaded = new Map<number, Promise<Handler>>();
let loading: Promise<unknown> = Promise.resolve();

async function load({ path, instance, environment }: Call): Promise<Handler> {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  const version = instance === 1 ? "" : `?instance=${instance}`;
  const { handler }: { handler: Handler } = await import(
    new URL(`../../lambdas/${path}.ts${version}`, import.meta.url).href
  );
  return handler;
}

/** The function of a service; one is loaded after the other, because a function reads its environment while it is loaded. */
function functionOf(call: Call): Promise<Handler> {
  const known = loaded.get(call.instance);
  if (known) return known;
  const found = loading.then(() => load(call));
  loading = found.catch((error: unknown) => log("error", `${call.path} could not be loaded`, errorFields(error)));
  loaded.set(call.instance, found);
  return found;
}

async function answer(message: unknown): Promise<ThreadAnswer> {
  const call = callSchema.parse(message);
  try {
    const handler = await functionOf(call);
    return { id: call.id, result: await handler(call.event, call.context) };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { id: call.id, error: { name, message } };
  }
}

parentPort?.on("message", async (message: unknown) => parentPort?.postMessage(await answer(message)));
