import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";

/** Names the request of a test on its way to the service, and on every call that the service makes for it. */
export const countedHeader = "x-counted-for";

let isFollowing = false;

/**
 * Follows each request through this process: a call that is made for a request with `countedHeader` carries the same
 * header, whatever else runs beside it. What a call sets off in another service is not counted for the request.
 */
export function followRequests(): void {
  if (isFollowing) return;
  isFollowing = true;
  const current = new AsyncLocalStorage<string | undefined>();
  subscribe("http.server.request.start", (message) => {
    const { request } = message as { request: IncomingMessage };
    // A call to an embedded service carries the header too, and ends there.
    const isCall = request.headers["amz-sdk-invocation-id"] !== undefined;
    const name = request.headers[countedHeader];
    current.enterWith(isCall ? undefined : name?.toString());
  });
  subscribe("http.client.request.created", (message) => {
    const { request } = message as { request: ClientRequest };
    const name = current.getStore();
    if (name !== undefined && !request.headersSent) request.setHeader(countedHeader, name);
  });
}
