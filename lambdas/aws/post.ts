import { type Agent, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

/** One POST without the fetch client, whose loading would cost every cold start. The whole answer is held in memory. */
export function post(
  url: URL,
  headers: Record<string, string>,
  body: string,
  agent?: Agent,
): Promise<{ status: number; body: string }> {
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, timeout: 3_000, ...(agent && { agent }) }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on("error", reject);
    });
    sent.on("timeout", () => sent.destroy(Object.assign(new Error("No answer in time"), { code: "ETIMEDOUT" })));
    sent.on("error", reject);
    sent.end(body);
  });
}
