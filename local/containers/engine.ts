import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import * as z from "zod";
import { StartRefused } from "../start-refused.ts";
import { createDocker, type Docker, DockerFailed, dockerEnvironment } from "./docker.ts";

/** The Docker engine in which apps are built and run. */
export interface DockerEngine {
  kind: "docker";
  version: string;
  /** Where it answers, such as `unix:///var/run/docker.sock`. */
  host: string;
  /** The engine's default builder can export its cache to a registry only with the image store of containerd. */
  imageStore: "containerd" | "classic";
  /** The program behind `docker buildx`, where docker says where it is. */
  buildx: string | undefined;
  docker: Docker;
  /** The environment of `docker` for shells that call it. */
  env: Record<string, string>;
}

/** No engine: apps are built and run as processes of this user. */
export interface NoEngine {
  kind: "none";
  /** A sentence for users, with what to do. */
  reason: string;
}

export type Engine = DockerEngine | NoEngine;

/** SLIPWAY_CONTAINERS: `auto` (default) uses an engine that answers, `docker` requires one, `none` uses processes. */
const containersSetting = z.enum(["auto", "docker", "none"]);

const answerMs = 5_000;

/** The fields of `docker info` that are used; without an engine, only ClientInfo has values. */
const infoSchema = z.object({
  ServerVersion: z.string().default(""),
  ServerErrors: z.array(z.string()).nullish(),
  OSType: z.string().default(""),
  OperatingSystem: z.string().default(""),
  DriverStatus: z.array(z.array(z.string())).nullish(),
  ClientInfo: z.object({
    Plugins: z
      .array(z.object({ Name: z.string(), Version: z.string().optional(), Path: z.string().optional() }))
      .nullish(),
  }),
});

const none = (reason: string): NoEngine => ({ kind: "none", reason });

/** True if a version such as `26.1.5+dfsg1` or `v0.13.1` is at least this one. */
function isAtLeast(version: string, major: number, minor: number): boolean {
  const [, one = "0", two = "0"] = /(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(one) > major || (Number(one) === major && Number(two) >= minor);
}

/** Decides from the output of `docker info` and the engine's address whether apps can run there. */
function engineOf(
  info: unknown,
  host: string,
): NoEngine | Pick<DockerEngine, "kind" | "version" | "host" | "imageStore" | "buildx"> {
  const known = infoSchema.safeParse(info);
  if (!known.success) return none("docker info gives no information that Slipway understands.");
  const { ServerVersion: version, ServerErrors, OSType, OperatingSystem, DriverStatus, ClientInfo } = known.data;
  if (ServerErrors?.some((text) => text.includes("permission denied")))
    return none(`this user may not use the Docker engine at ${host}.`);
  if (version === "" || ServerErrors?.length) return none("no Docker engine answers.");
  if (!host.startsWith("unix://")) return none(`the Docker engine at ${host} may be on another machine.`);
  if (OSType !== "linux") return none("the Docker engine does not run Linux containers.");
  // Its containers and its builds cannot reach a server on this machine's 127.0.0.1.
  if (OperatingSystem === "Docker Desktop") return none("Docker Desktop runs its engine in a virtual machine.");
  // 23.0 is the first whose BuildKit knows `COPY --link` and build contexts.
  if (!isAtLeast(version, 23, 0)) return none(`Docker Engine ${version} is too old. Install 23.0 or newer.`);
  const buildx = ClientInfo.Plugins?.find(({ Name }) => Name === "buildx");
  if (!buildx) return none("docker has no buildx. Install docker-buildx-plugin.");
  if (!isAtLeast(buildx.Version ?? "", 0, 10))
    return none(`docker buildx ${buildx.Version} is too old. Install 0.10 or newer.`);
  const isContainerd = DriverStatus?.some(([name, value]) => name === "driver-type" && value?.includes("containerd"));
  return { kind: "docker", version, host, imageStore: isContainerd ? "containerd" : "classic", buildx: buildx.Path };
}

/** Sockets of engines that are not at the default address. */
function usualSockets({ XDG_RUNTIME_DIR: runtime, HOME: home = homedir() }: NodeJS.ProcessEnv): string[] {
  const ofUser = [".docker/run/docker.sock", ".rd/docker.sock"].map((path) => join(home, path));
  return [...(runtime ? [join(runtime, "docker.sock")] : []), ...ofUser].filter((path) => existsSync(path));
}

/** If no engine answers, `docker info` says why in its output and fails. */
async function readInfo(docker: Docker): Promise<string> {
  try {
    return await docker.run(["info", "--format", "{{json .}}"], { signal: AbortSignal.timeout(answerMs) });
  } catch (error) {
    if (error instanceof DockerFailed && error.output !== "") return error.output;
    throw error;
  }
}

/** The programs of the buildspec besides docker; CodeBuild's machines have them. */
const buildPrograms = ["bash", "curl", "jq", "sed", "unzip"];

function missingProgram({ PATH = "" }: Record<string, string>): string | undefined {
  const folders = PATH.split(delimiter);
  return buildPrograms.find((program) => !folders.some((folder) => existsSync(join(folder, program))));
}

async function ask(env: Record<string, string>): Promise<Engine> {
  const docker = createDocker(env);
  try {
    const address = env.DOCKER_HOST ?? docker.run(["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"]);
    const [info, host] = await Promise.all([readInfo(docker), address]);
    const engine = engineOf(JSON.parse(info), host);
    if (engine.kind === "none") return engine;
    const missing = missingProgram(env);
    if (missing) return none(`builds in containers need ${missing}. Install it.`);
    return { ...engine, docker, env: { ...env, DOCKER_HOST: host } };
  } catch (error) {
    if (error instanceof DockerFailed && error.code === "ENOENT") return none("there is no docker program.");
    return none("no Docker engine answers.");
  }
}

/** Finds a Docker engine in which apps can be built and run: that of DOCKER_HOST or the Docker context, else one at a usual socket. */
export async function findEngine(environment: NodeJS.ProcessEnv): Promise<Engine> {
  const env = dockerEnvironment(environment);
  const found = await ask(env);
  if (found.kind === "docker" || env.DOCKER_HOST || env.DOCKER_CONTEXT) return found;
  for (const socket of usualSockets(environment)) {
    const other = await ask({ ...env, DOCKER_HOST: `unix://${socket}` });
    if (other.kind === "docker") return other;
  }
  return found;
}

/** Where the base images of apps come from. */
const baseImages = { registry: "https://public.ecr.aws/v2/", reference: "public.ecr.aws/docker/library/*" };

/** Any answer will do: without a token the registry answers 401. */
async function answersAt(url: string): Promise<boolean> {
  return fetch(url, { method: "HEAD", signal: AbortSignal.timeout(2_000) }).then(
    () => true,
    () => false,
  );
}

/** Whether the engine has base images, or this machine can reach their registry: without them no app can be built. */
async function hasBaseImages({ docker }: DockerEngine, isReachable: typeof answersAt): Promise<boolean> {
  const list = ["image", "ls", "--quiet", "--filter", `reference=${baseImages.reference}`];
  const found = await docker.run(list, { signal: AbortSignal.timeout(answerMs) }).catch(() => "");
  return found !== "" || isReachable(baseImages.registry);
}

/**
 * As findEngine, but throws StartRefused if SLIPWAY_CONTAINERS has no valid value or requires an engine that cannot be used.
 * With `auto`, an engine that has no base images and cannot pull them is not used.
 */
export async function requireEngine(
  environment: NodeJS.ProcessEnv,
  isReachable: typeof answersAt = answersAt,
): Promise<Engine> {
  const setting = containersSetting.safeParse(environment.SLIPWAY_CONTAINERS || "auto");
  if (!setting.success)
    throw new StartRefused(
      `SLIPWAY_CONTAINERS must be auto, docker or none, not ${JSON.stringify(environment.SLIPWAY_CONTAINERS)}.`,
    );
  if (setting.data === "none") return none("SLIPWAY_CONTAINERS is none.");
  const engine = await findEngine(environment);
  if (setting.data === "docker" && engine.kind === "none")
    throw new StartRefused(`SLIPWAY_CONTAINERS is docker, but apps cannot run in containers: ${engine.reason}`);
  if (setting.data === "auto" && engine.kind === "docker" && !(await hasBaseImages(engine, isReachable)))
    return none("the Docker engine has no base images, and public.ecr.aws does not answer.");
  return engine;
}

/** The line in which `npm start` says how apps run, and why. */
export function laneLine(engine: Engine): string {
  return engine.kind === "docker"
    ? `Apps run in containers of Docker Engine ${engine.version} (${engine.host}).`
    : `Apps run as processes of this user: ${engine.reason}`;
}
