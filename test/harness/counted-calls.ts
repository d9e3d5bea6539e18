import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";

/** The header with the name of a test's request; also set on every AWS call that the service makes for it. */
export const countedHeader = "x-counted-for";

let isFollowing = false;

/**
 * Sets `countedHeader` on every AWS call that the service makes for a request with that header, also with concurrent
 * requests. Calls that an embedded service itself makes are not counted for the request.
 */
export function followRequests(): void {
  if (isFollowing) return;
  isFollowing = true;
  const current = new AsyncLocalStorage<string | undefined>();
  subscribe("http.server.request.start", (message) => {
    const { request } = message as { request: IncomingMessage };
    // A call to an embedded service has the header too, but its own calls must not be counted.
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
