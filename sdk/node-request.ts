import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";

type RequestFunction = (
  url: string | URL,
  options: RequestOptions,
  onResponse?: (response: IncomingMessage) => void,
) => ClientRequest;

/** The `request` of Node.js for an address. Only the module of its protocol is loaded, because `node:https` is large. */
export async function requestFunction(url: string): Promise<RequestFunction> {
  const module = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  // In the command line's bundle, these modules have only a default export.
  return module.default.request;
}
