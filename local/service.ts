import { join } from "node:path";
import { limits } from "../api/limits.ts";
import { startApiGateway } from "./api-gateway/server.ts";
import { type Behavior, cloud, kind } from "./behavior.ts";
import type { Engine } from "./containers/engine.ts";
import { type EmbeddedServices, startEmbeddedServices } from "./embedded-services.ts";
import { setEnvironment } from "./environment.ts";
import { openHome } from "./home.ts";
import { lockHome } from "./home-lock.ts";
import { isPortFree } from "./ports.ts";
import { migrateHome, newSignInLink, seed } from "./seed.ts";
import { StartRefused, unusableHome } from "./start-refused.ts";
import { writeStateFile } from "./state-file.ts";

const reconcileSeconds = 60;

export interface LocalService {
  baseUrl: string;
  /** A new one-time link that signs the seeded user in to the console; undefined if `local.json` names no user. */
  newSignInLink(): Promise<string | undefined>;
  /** Stops the service with all apps within 5 s. */
  stop(): Promise<void>;
  /** Resolves with a message when a part has failed that cannot be restarted; then the caller must stop the service. */
  lost: Promise<string>;
}

export interface ServiceOptions {
  home: string;
  port: number;
  /** `kind` (default): as fast as possible. `cloud`: with the delays, refusals and faults of AWS (local/README.md). */
  behavior?: "kind" | "cloud" | Behavior | undefined;
  /** The Docker engine that builds and runs apps; without one they are processes of this user. */
  engine?: Engine | undefined;
  /** The health time-out of a new revision in seconds. */
  healthTimeoutSeconds?: number | undefined;
  /** The time limit of release commands in seconds. */
  releaseTimeoutSeconds?: number | undefined;
}

function behaviorOf(behavior: "kind" | "cloud" | Behavior): Behavior {
  if (typeof behavior !== "string") return behavior;
  return behavior === "cloud" ? cloud() : kind;
}

/**
 * Starts the whole service on 127.0.0.1 with all state in `home`. Throws StartRefused, whose message is for the user, if
 * the data folder or the port is in use or cannot be used.
 */
export async function startService(options: ServiceOptions): Promise<LocalService> {
  const started = new AsyncDisposableStack();
  try {
    openHome(options.home);
    const lock = lockHome(options.home);
    started.defer(() => lock.release());
    if (!(await isPortFree(options.port))) {
      throw new StartRefused(
        `Port ${options.port} is in use by another program. Stop it, or set PORT to another port.`,
      );
    }
    const { promise: lost, resolve: onLost } = Promise.withResolvers<string>();
    const behavior = behaviorOf(options.behavior ?? "kind");
    const engine = options.engine ?? { kind: "none", reason: "none was chosen." };
    const embedded = await startEmbeddedServices({ home: options.home, onLost, behavior, engine }, started);
    const slipway = await startSlipway(options, embedded, started);
    return { ...slipway, lost, stop: () => started.disposeAsync() };
  } catch (error) {
    await started.disposeAsync();
    throw unusableHome(options.home, error) ?? error;
  }
}

/** Starts the API gateway, sets the functions' environment, seeds the data, and resumes apps and executions. */
async function startSlipway(
  {
    home,
    port,
    healthTimeoutSeconds = limits.healthTimeoutSeconds,
    releaseTimeoutSeconds = limits.releaseTimeoutSeconds,
  }: ServiceOptions,
  embedded: EmbeddedServices,
  started: AsyncDisposableStack,
): Promise<Pick<LocalService, "baseUrl" | "newSignInLink">> {
  const { functions, endpoints, root } = embedded;
  const gateway = await startApiGateway({ port, functions });
  started.defer(gateway.close);
  const baseUrl = `http://127.0.0.1:${gateway.port}`;
  const appServiceHost = await embedded.openApi(gateway.port);
  setEnvironment({ ...endpoints, appServiceHost, baseUrl, root, healthTimeoutSeconds, releaseTimeoutSeconds });

  // scripts/operator.ts reads this file and signs its calls with the key.
  writeStateFile(join(home, "runtime.json"), { awsEndpoint: endpoints.aws, stsEndpoint: endpoints.sts, ...root });
  const operator = (command: string, input: object) => functions.invoke("operator", { command, input });
  await migrateHome(operator);
  const { userId } = await seed({ home, baseUrl, operator });
  await embedded.resume();
  await functions.invoke("reconcile-locks", { all: true });
  const reconcile = () => void functions.invoke("reconcile-locks", {}).catch(() => undefined);
  const timer = setInterval(reconcile, reconcileSeconds * 1000);
  started.defer(() => clearInterval(timer));
  return { baseUrl, newSignInLink: async () => userId && newSignInLink(operator, userId) };
}
