import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Seed } from "../../harness/service.ts";
import { type Answer, type CallOptions, callAt } from "../../harness/service.ts";

/** The local service in its own process, which a test can kill and start again on the same data folder. */
export interface KillableService {
  home: string;
  seed: Seed;
  project: string;
  isAlive(): boolean;
  /** Its output since the last start, for the message of a failed test. */
  output(): string;
  start(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): void;
  /** Ends it as a user would, which also stores its compiled modules for the next start. */
  stop(): Promise<void>;
  /** Resolves when the process has ended. */
  gone(): Promise<void>;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  remove(): Promise<void>;
}

/** Starts it with its table at `dynamoDb`; only the table and the data folder survive a kill. */
export async function startKillable(dynamoDb: string): Promise<KillableService> {
  const home = mkdtempSync(join(tmpdir(), "slipway-killable-"));
  let child: ChildProcess | undefined;
  let output: string[] = [];
  const service: KillableService = {
    home,
    seed: {
      baseUrl: "",
      organizationId: "",
      projectId: "",
      databaseId: "",
      storageId: "",
      accessKey: "",
      secretKey: "",
      token: "",
    },
    project: "",
    isAlive: () => child !== undefined && child.exitCode === null && child.signalCode === null,
    output: () => output.join("\n"),
    async start() {
      output = [];
      const { PATH, HOME, NODE_COMPILE_CACHE, SLIPWAY_CONTAINERS } = process.env;
      const own = { SLIPWAY_HOME: home, PORT: "0", AWS_ENDPOINT_URL_DYNAMODB: dynamoDb };
      const env = { PATH, HOME, NODE_COMPILE_CACHE, SLIPWAY_CONTAINERS, ...own };
      const started = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "local/main.ts"], {
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
      child = started;
      const lines = createInterface({ input: started.stdout });
      const errors = createInterface({ input: started.stderr });
      errors.on("line", (line) => output.push(line));
      await new Promise<void>((resolve, reject) => {
        lines.on("line", (line) => {
          output.push(line);
          if (line.startsWith("Slipway is ready")) resolve();
        });
        started.once("exit", () => reject(new Error(`The service ended before it was ready:\n${output.join("\n")}`)));
      });
      service.seed = JSON.parse(readFileSync(join(home, "local.json"), "utf8"));
      service.project = `/organizations/${service.seed.organizationId}/projects/${service.seed.projectId}`;
    },
    kill: () => void child?.kill("SIGKILL"),
    async stop() {
      child?.kill("SIGTERM");
      await service.gone();
    },
    async gone() {
      if (child && service.isAlive()) await once(child, "exit");
    },
    call: (method, path, options) =>
      callAt(service.seed.baseUrl, `${service.seed.accessKey}:${service.seed.secretKey}`, method, path, options),
    async remove() {
      await service.stop();
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
  await service.start();
  return service;
}
