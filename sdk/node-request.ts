import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";

type RequestFunction = (
  url: string | URL,
  options: RequestOptions,
  onResponse?: (response: IncomingMessage) => void,
) => ClientRequest;

/** The `request` of Node.js for an address. Only the module of its protocol is loaded, because `node:https` is large. */
export async function requestFunction(url: string): Promise<RequestFunction> {
  const module = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  // The bundle of the command line has no other export of them.
  return module.default.request;
}
