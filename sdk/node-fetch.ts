import type { IncomingMessage } from "node:http";
import { requestFunction } from "./node-request.ts";
import type { Fetch } from "./send.ts";

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding("utf8");
  let text = "";
  for await (const piece of response) text += piece;
  return text;
}

/**
 * The part of `fetch` that the client needs, by `node:http`. The first call of Node's own `fetch` takes longer than starting Node.js,
 * and a command line is started for each command. As with `redirect: "manual"`, no redirect is followed.
 */
export const nodeFetch: Fetch = async (url, { method, headers, body, signal }) => {
  const request = await requestFunction(url);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method, headers, signal }, resolve).on("error", reject).end(body);
  });
  const { statusCode: status = 0, headers: received } = response;
  return {
    status,
    ok: status >= 200 && status < 300,
    headers: { get: (name) => received[name.toLowerCase()]?.toString() ?? null },
    text: () => textOf(response),
  };
};
