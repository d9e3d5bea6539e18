import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { dockerProgram } from "../../../local/codebuild/buildspec-shell.ts";
import { DockerFailed } from "../../../local/containers/docker.ts";
import { laneLine, requireEngine } from "../../../local/containers/engine.ts";
import { StartRefused } from "../../../local/start-refused.ts";
import { testEngine } from "../../harness/engine.ts";

const folder = mkdtempSync(join(tmpdir(), "slipway-engine-"));
afterAll(() => rmSync(folder, { recursive: true }));

const buildx = { Name: "buildx", Version: "v0.13.1" };
const engine = {
  ServerVersion: "27.3.1",
  OSType: "linux",
  OperatingSystem: "Debian GNU/Linux 12 (bookworm)",
  DriverStatus: [["driver-type", "io.containerd.snapshotter.v1"]],
  ClientInfo: { Plugins: [buildx] },
};

/** A machine whose `docker` prints this for `docker info`, and this address for `docker context inspect`; null: it has no docker. It has the programs of the buildspec. */
function machine(
  info: object | null,
  context = "unix:///var/run/docker.sock",
  exitCode = 0,
  hasJq = true,
  images = "0123456789ab",
): NodeJS.ProcessEnv {
  const bin = mkdtempSync(join(folder, "bin-"));
  const home = join(bin, "home");
  mkdirSync(home);
  for (const program of ["bash", "curl", "sed", "unzip", ...(hasJq ? ["jq"] : [])])
    writeFileSync(join(bin, program), "");
  if (info !== null) {
    const script = `case $1 in context) echo '${context}' ;; info) echo '${JSON.stringify(info)}'; exit ${exitCode} ;; image) printf '${images}' ;; esac`;
    writeFileSync(join(bin, "docker"), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, "docker"), 0o755);
  }
  return { PATH: bin, HOME: home };
}
const unanswered = { ClientInfo: { Plugins: [buildx] }, ServerErrors: ["Cannot connect to the Docker daemon"] };

describe("npm start says in one line how apps run, and why", () => {
  const inContainers = "Apps run in containers of Docker Engine 27.3.1 (unix:///var/run/docker.sock).";
  const asProcesses = (reason: string) => `Apps run as processes of this user: ${reason}`;
  test.each<[name: string, environment: NodeJS.ProcessEnv, line: string]>([
    ["an engine", machine(engine), inContainers],
    ["one without containerd's image store", machine({ ...engine, DriverStatus: [["Backing", "ext4"]] }), inContainers],
    ["SLIPWAY_CONTAINERS=auto", { ...machine(engine), SLIPWAY_CONTAINERS: "auto" }, inContainers],
    ["SLIPWAY_CONTAINERS=docker", { ...machine(engine), SLIPWAY_CONTAINERS: "docker" }, inContainers],
    [
      "the engine of DOCKER_HOST",
      { ...machine(engine), DOCKER_HOST: "unix:///run/mine.sock" },
      "Apps run in containers of Docker Engine 27.3.1 (unix:///run/mine.sock).",
    ],
    [
      "SLIPWAY_CONTAINERS=none",
      { ...machine(engine), SLIPWAY_CONTAINERS: "none" },
      asProcesses("SLIPWAY_CONTAINERS is none."),
    ],
    ["no docker", machine(null), asProcesses("there is no docker program.")],
    ["no engine", machine(unanswered, undefined, 1), asProcesses("no Docker engine answers.")],
    [
      "an engine of other users",
      machine({ ...unanswered, ServerErrors: ["permission denied while trying to connect"] }, undefined, 1),
      asProcesses("this user may not use the Docker engine at unix:///var/run/docker.sock."),
    ],
    [
      "an engine elsewhere",
      machine(engine, "ssh://me@build.example"),
      asProcesses("the Docker engine at ssh://me@build.example may be on another machine."),
    ],
    [
      "Docker Desktop",
      machine({ ...engine, OperatingSystem: "Docker Desktop" }),
      asProcesses("Docker Desktop runs its engine in a virtual machine."),
    ],
    [
      "Windows containers",
      machine({ ...engine, OSType: "windows" }),
      asProcesses("the Docker engine does not run Linux containers."),
    ],
    [
      "an old engine",
      machine({ ...engine, ServerVersion: "20.10.24+dfsg1" }),
      asProcesses("Docker Engine 20.10.24+dfsg1 is too old. Install 23.0 or newer."),
    ],
    [
      "no buildx",
      machine({ ...engine, ClientInfo: { Plugins: null } }),
      asProcesses("docker has no buildx. Install docker-buildx-plugin."),
    ],
    [
      "an old buildx",
      machine({ ...engine, ClientInfo: { Plugins: [{ ...buildx, Version: "v0.8.2" }] } }),
      asProcesses("docker buildx v0.8.2 is too old. Install 0.10 or newer."),
    ],
    [
      "no base images",
      machine(engine, undefined, 0, true, ""),
      asProcesses("the Docker engine has no base images, and public.ecr.aws does not answer."),
    ],
    [
      "no base images, but SLIPWAY_CONTAINERS=docker",
      { ...machine(engine, undefined, 0, true, ""), SLIPWAY_CONTAINERS: "docker" },
      inContainers,
    ],
    ["no jq", machine(engine, undefined, 0, false), asProcesses("builds in containers need jq. Install it.")],
    [
      "another program named docker",
      machine({ hello: "world" }),
      asProcesses("docker info gives no information that Slipway understands."),
    ],
  ])("%s", async (_, environment, line) => {
    expect(laneLine(await requireEngine(environment, async () => false))).toBe(line);
  });

  test("an engine without base images is used where their registry answers", async () => {
    const asked: string[] = [];
    const isReachable = async (url: string) => asked.push(url) > 0;
    const found = await requireEngine(machine(engine, undefined, 0, true, ""), isReachable);
    expect([laneLine(found), asked]).toEqual([inContainers, ["https://public.ecr.aws/v2/"]]);
  });

  test("an engine that is required but cannot be used, and a value that does not exist, refuse the start", async () => {
    const required = requireEngine({ ...machine(null), SLIPWAY_CONTAINERS: "docker" });
    const message = "SLIPWAY_CONTAINERS is docker, but apps cannot run in containers: there is no docker program.";
    await expect(required).rejects.toThrow(new StartRefused(message));
    const unknown = requireEngine({ ...machine(engine), SLIPWAY_CONTAINERS: "podman" });
    const allowed = 'SLIPWAY_CONTAINERS must be auto, docker or none, not "podman".';
    await expect(unknown).rejects.toThrow(new StartRefused(allowed));
  });
});

describe("the docker program of a build", () => {
  const build = ["buildx", "build", "--cache-from", "a", "--build-arg", "_E0=", "--cache-to", "b", "", "two words\n"];
  const labeled = ["build", "--label", "folder=a b"];
  const without = ["--build-arg", "_E0=", "", "two words\n"];
  test.each<[string, Parameters<typeof dockerProgram>[0], string[], string[]]>([
    [
      "starts buildx itself",
      { buildx: "buildx it's", imageStore: "containerd" },
      build,
      ["it", ...labeled, ...build.slice(2)],
    ],
    [
      "or by docker",
      { buildx: undefined, imageStore: "containerd" },
      build,
      ["docker", "buildx", ...labeled, ...build.slice(2)],
    ],
    [
      "without a cache in a registry",
      { buildx: undefined, imageStore: "classic" },
      build,
      ["docker", "buildx", ...labeled, ...without],
    ],
    [
      "and passes the rest on",
      { buildx: "buildx it's", imageStore: "classic" },
      ["login", ""],
      ["docker", "login", ""],
    ],
  ])("%s", (_, engineOfBuild, args, called) => {
    const [standIn, bin] = [mkdtempSync(join(folder, "stand-in-")), mkdtempSync(join(folder, "programs-"))];
    const program = (path: string, text: string) => {
      writeFileSync(path, text);
      chmodSync(path, 0o755);
    };
    program(join(standIn, "docker"), dockerProgram(engineOfBuild, { folder: "a b" }));
    program(join(bin, "docker"), "#!/bin/bash\nprintf '%s\\0' docker \"$@\"\n");
    program(join(bin, "buildx it's"), "#!/bin/bash\nprintf '%s\\0' it \"$@\"\n");
    const PATH = `${standIn}:${bin}:/usr/bin:/bin`;
    const output = execFileSync(join(standIn, "docker"), args, { env: { PATH }, encoding: "utf8" });
    expect(output.split("\0").slice(0, -1)).toEqual(called);
  });
});

const found = await testEngine();

describe.skipIf(found.kind === "none")("a real engine", () => {
  if (found.kind === "none") return;
  const { docker } = found;
  test("answers with output, or with its own message and exit code", async () => {
    expect(await docker.run(["version", "--format", "{{.Server.Version}}"])).toBe(found.version);
    const failure = await docker.run(["inspect", "slipway-none"]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DockerFailed);
    expect(failure).toMatchObject({ exitCode: 1, message: expect.stringContaining("No such object: slipway-none") });
  });

  test("an abort ends a call", async () => {
    const call = docker.run(["events"], { signal: AbortSignal.timeout(50) });
    await expect(call).rejects.toThrow("aborted");
  });
});
