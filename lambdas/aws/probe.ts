import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

/** The time of each probe (docs/api.md, Health check). */
const probeSeconds = 5;

export type ProbeResult = { status: number } | { failure: "refused" | "timeout" | "broken" };

/** One GET of a path of the app; the body is not read. Redirects are not followed and count as responses. */
export function probe(address: string, path: string, headers: Record<string, string>): Promise<ProbeResult> {
  // A path such as //a/b is not the name of another host.
  const url = new URL(`${new URL(address).origin}${path}`);
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const sent = request(
      url,
      {
        headers: { "user-agent": "Slipway-HealthCheck/1", ...headers },
        agent: false,
        signal: AbortSignal.timeout(probeSeconds * 1000),
      },
      (response) => {
        response.destroy();
        resolve({ status: response.statusCode ?? 0 });
      },
    );
    sent.on("error", (error: Error & { code?: string }) => {
      if (error.name === "TimeoutError" || error.name === "AbortError") return resolve({ failure: "timeout" });
      return resolve({ failure: error.code === "ECONNREFUSED" ? "refused" : "broken" });
    });
    sent.end();
  });
}
