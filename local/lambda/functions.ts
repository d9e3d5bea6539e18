import { randomUUID } from "node:crypto";
import { routes } from "../../api/index.ts";
import { pages } from "../../api/pages.ts";
import { errorFields, log } from "../../lambdas/http/log.ts";
import { imageBuildServices, listeners, removalSteps, steps } from "../../statemachines/steps.ts";
import { AwsError } from "../aws/service.ts";

import { type FunctionThread, functionThread } from "./function-thread.ts";

export type Handler = (event: unknown, context: unknown) => Promise<unknown>;

/** An error that a function threw, with its name as Lambda reports it. */
export class FunctionError extends Error {
  readonly errorType: string;
  constructor(errorType: string, message: string) {
    super(message);
    this.errorType = errorType;
  }
}

export interface Functions {
  /** Runs a function in this process; its module is loaded on the first call. Throws FunctionError. */
  invoke(name: string, event: unknown): Promise<unknown>;
  handler(name: string): Promise<Handler>;
  /** Ends the threads of functions; running calls fail. */
  close(): Promise<void>;
}

/** The handler module of each function, by the name of the deployed function without the stack's prefix. */
const modules: Record<string, string> = {
  "not-found": "service/not-found",
  operator: "operator/operator",
  ...Object.fromEntries([...routes, ...pages].map(({ id, resource }) => [id, `${resource}/${id}`])),
  ...Object.fromEntries(
    Object.keys({ ...steps, ...removalSteps, ...imageBuildServices, ...listeners }).map((id) => [id, `pipeline/${id}`]),
  ),
};

/** Functions with long computations: each runs in its own thread, so that it does not block other requests. */
const threaded: ReadonlySet<string> = new Set(["analyze"]);

function contextOf(name: string) {
  return {
    functionName: name,
    awsRequestId: randomUUID(),
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => 29_000,
  };
}

/**
 * The service's Lambdas, run in this process from their sources. A function reads its environment when it is loaded, so a
 * process that starts several services passes another `instance` for each one: each then loads functions of its own.
 */
export function createFunctions(instance = ""): Functions {
  const version = instance && `?instance=${encodeURIComponent(instance)}`;
  const loaded = new Map<string, Promise<Handler>>();
  const threads: FunctionThread[] = [];
  const close = async () => {
    await Promise.all(threads.map((thread) => thread.close()));
  };

  function handler(name: string): Promise<Handler> {
    const known = loaded.get(name);
    if (known) return known;
    const path = modules[name];
    if (!path) throw new AwsError("ResourceNotFoundException", `Function not found: ${name}`, 404);
    if (threaded.has(name)) {
      const thread = functionThread(path);
      threads.push(thread);
      loaded.set(name, Promise.resolve(thread.handler));
      return Promise.resolve(thread.handler);
    }
    const loading = import(new URL(`../../lambdas/${path}.ts${version}`, import.meta.url).href).then(
      (module: { handler: Handler }) => module.handler,
      (error: unknown) => {
        // The function's own logger is not loaded yet, so the error is logged here, as Lambda's runtime does.
        log("error", `${name} could not be loaded`, errorFields(error));
        throw error;
      },
    );
    loaded.set(name, loading);
    return loading;
  }

  async function invoke(name: string, event: unknown): Promise<unknown> {
    const run = await handler(name);
    try {
      return await run(event, contextOf(name));
    } catch (error) {
      if (error instanceof Error) throw new FunctionError(error.name, error.message);
      throw new FunctionError("Error", String(error));
    }
  }

  return { invoke, handler, close };
}
