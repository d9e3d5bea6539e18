import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export interface Traffic {
  /** Resolves when an answer had this body. */
  sees(body: string): Promise<void>;
  /** Stops the requests and returns their results. */
  stop(): Promise<{ total: number; failures: string[]; bodies: Set<string> }>;
}

function once(url: string, agent: Agent): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** Requests an address every `everyMs` until stopped, without waiting for the answers. */
export function startTraffic(url: string, everyMs = 20): Traffic {
  const agent = new Agent({ keepAlive: true });
  const failures: string[] = [];
  const bodies = new Set<string>();
  const pending: Promise<void>[] = [];
  let total = 0;
  let running = true;
  const loop = (async () => {
    while (running) {
      total += 1;
      pending.push(
        once(url, agent).then(
          ({ status, body }) => {
            if (status === 200) bodies.add(body);
            else failures.push(`status ${status}: ${body}`);
          },
          (error: Error) => void failures.push(error.message),
        ),
      );
      await sleep(everyMs);
    }
  })();
  return {
    async sees(body) {
      while (!bodies.has(body)) await sleep(everyMs);
    },
    async stop() {
      running = false;
      await loop;
      await Promise.all(pending);
      agent.destroy();
      return { total, failures, bodies };
    },
  };
}
