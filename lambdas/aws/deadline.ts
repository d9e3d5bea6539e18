import { AsyncLocalStorage } from "node:async_hooks";
import { NodeHttpHandler } from "@smithy/node-http-handler";

const current = new AsyncLocalStorage<AbortSignal>();

/** Runs `work`. When the signal is aborted, the AWS calls that it waits for end with an AbortError, and so does each later one. */
export function runWithin<T>(signal: AbortSignal, work: () => T): T {
  return current.run(signal, work);
}

type Handle = NodeHttpHandler["handle"];

/** Sends the requests of an SDK client, each attempt at most until the deadline of the request that makes it. */
export class BoundedHttpHandler extends NodeHttpHandler {
  override handle(...[request, options]: Parameters<Handle>): ReturnType<Handle> {
    const deadline = current.getStore();
    const own = options?.abortSignal;
    const abortSignal = deadline && own instanceof AbortSignal ? AbortSignal.any([deadline, own]) : (own ?? deadline);
    return super.handle(request, { ...options, ...(abortSignal && { abortSignal }) });
  }
}
