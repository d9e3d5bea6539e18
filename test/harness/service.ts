import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { requireEngine } from "../../local/containers/engine.ts";
import { localFile } from "../../local/seed.ts";
import { type LocalService, type ServiceOptions, startService } from "../../local/service.ts";
import { type Answer, type CallOptions, callAt } from "./call.ts";
import { invokeFunction } from "./signing.ts";

export { type Answer, type CallOptions, callAt };

export type Seed = z.infer<typeof localFile>;

export interface Running {
  seed: Seed;
  home: string;
  /** `/organizations/…/projects/…` of the seeded project. */
  project: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  operator(command: string, input: object): Promise<Record<string, { id: string; [name: string]: unknown }>>;
  /** Ends the service and deletes its data folder, unless `keep` is set. */
  stop(keep?: "keep"): Promise<void>;
}

export interface RunningOptions
  extends Pick<ServiceOptions, "behavior" | "healthTimeoutSeconds" | "releaseTimeoutSeconds"> {
  /** Default: `none`, so that a test does not depend on whether this machine has a Docker engine. */
  containers?: "docker" | "none";
}

const operatorAnswer = z.object({ ok: z.boolean(), output: z.any().optional(), error: z.any().optional() });

/** Like `callAt`, but repeats a call that is answered with a temporary 503, as its Retry-After says. */
async function callPatiently(...call: Parameters<typeof callAt>): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await callAt(...call);
    if (answer.status !== 503 || tries === 5) return answer;
    await sleep(Number(answer.headers.get("retry-after") ?? 1) * 1_000);
  }
}

/** Starts the whole local service in this process, on free ports, with a data folder that `stop` deletes. */
export async function startRunning(
  home = mkdtempSync(join(tmpdir(), "slipway-test-")),
  { containers = "none", ...options }: RunningOptions = {},
): Promise<Running> {
  const engine = await requireEngine({ ...process.env, SLIPWAY_CONTAINERS: containers });
  const service: LocalService = await startService({ home, port: 0, engine, ...options });
  const seed = localFile.parse(JSON.parse(readFileSync(join(home, "local.json"), "utf8")));
  const key = `${seed.accessKey}:${seed.secretKey}`;
  const send = (options.behavior ?? "kind") === "kind" ? callAt : callPatiently;
  return {
    seed,
    home,
    project: `/organizations/${seed.organizationId}/projects/${seed.projectId}`,
    call: (method, path, options) => send(seed.baseUrl, key, method, path, options),
    async operator(command, input) {
      const answer = operatorAnswer.parse(await invokeFunction(home, "operator", { command, input }));
      if (!answer.ok) throw Object.assign(new Error(answer.error?.message), answer.error);
      return answer.output;
    },
    async stop(keep) {
      await service.stop();
      if (keep === undefined) rmSync(home, { recursive: true, force: true });
    },
  };
}
