import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import * as z from "zod";
import { shellWord } from "../../buildpack/analysis/static-command.ts";
import { renderBuildspec } from "../../buildpack/image/buildspec.ts";
import { useClientConfig } from "../containers/client-config.ts";
import type { DockerEngine } from "../containers/engine.ts";
import { type RunResult, runProcessGroup } from "../process/run.ts";
import { buildMinutes } from "./limits.ts";

const buildspecSchema = z.object({
  phases: z.record(z.string(), z.object({ commands: z.array(z.string()) })),
});

/**
 * The buildspec as a script for an empty folder, which takes the place of /tmp. As CodeBuild does, it ends at the first
 * command that fails: behind `||` a shell would forget `set -e`.
 */
function scriptOf(): string {
  const commands = Object.values(buildspecSchema.parse(renderBuildspec()).phases).flatMap((phase) => phase.commands);
  const checked = commands.map((command) => `${command.replaceAll("/tmp/", "./")}\n[ $? -eq 0 ] || exit 1`);
  return [...checked, 'printf "%s" "$IMAGE_DIGEST" > ./digest'].join("\n");
}

/** Stands in for `aws lambda invoke … --payload fileb://<file> <output>`; its address is in ACCESS_URL. */
const awsProgram = `#!/bin/bash
for output; do :; done
while [ $# -gt 1 ]; do [ "$1" = --payload ] && payload=\${2#fileb://}; shift; done
exec curl --silent --show-error --fail --data-binary "@$payload" --output "$output" "$ACCESS_URL"
`;

/**
 * Stands in for `docker`. `docker buildx build` starts three programs, of which two only find the third; here the third is
 * started at once. Where the engine's own builder has no cache in a registry, these options are left out: its layers are cached in
 * the engine anyway. An image gets labels that say to which data folder it belongs.
 */
export function dockerProgram(
  { buildx, imageStore }: Pick<DockerEngine, "buildx" | "imageStore">,
  labels: Readonly<Record<string, string>>,
): string {
  const added = Object.entries(labels).map(([name, value]) => ` --label ${shellWord(`${name}=${value}`)}`);
  const kept = imageStore === "classic" ? "--cache-from | --cache-to) shift ;; *" : "*";
  return `#!/bin/bash
PATH=\${PATH#*:}
[ "$1 $2" = "buildx build" ] || exec docker "$@"
shift 2
arguments=()
while [ $# -gt 0 ]; do
  case $1 in ${kept}) arguments+=("$1") ;; esac
  shift
done
exec ${buildx === undefined ? "docker buildx" : shellWord(buildx)} build${added.join("")} "\${arguments[@]}"
`;
}

function writePrograms(bin: string, { engine, labels }: BuildspecRun): void {
  mkdirSync(bin);
  const write = (name: string, text: string) => {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  };
  write("aws", awsProgram);
  write("docker", dockerProgram(engine, labels));
}

const platforms: Readonly<Record<string, string>> = { x64: "linux/amd64", arm64: "linux/arm64" };

export interface BuildspecRun {
  /** An empty folder. */
  folder: string;
  engine: DockerEngine;
  /** Labels of the image. */
  labels: Readonly<Record<string, string>>;
  /** The variables of CodeBuild's project and of this build. */
  variables: Readonly<Record<string, string>>;
  /** Where the stand-in for Lambda answers. */
  accessUrl: string;
  signal: AbortSignal;
  onOutput(chunk: Buffer): void;
}

/** Runs the buildspec of AWS in its shell; `digest` is that of the pushed image, undefined if the build failed. */
export async function runBuildspec(run: BuildspecRun): Promise<RunResult & { digest: string | undefined }> {
  const { folder, engine, variables, accessUrl, signal, onOutput } = run;
  const bin = join(folder, "bin");
  writePrograms(bin, run);
  const platform = platforms[process.arch];
  const env = {
    ...useClientConfig(join(folder, "docker"), engine.env),
    PATH: `${bin}${delimiter}${engine.env.PATH}`,
    ...variables,
    ACCESS_URL: accessUrl,
    BUILDX_BUILDER: "default",
    DOCKER_CLI_HINTS: "false",
    ...(platform && { IMAGE_PLATFORM: platform }),
  };
  const result = await runProcessGroup("bash", ["-c", scriptOf()], {
    cwd: folder,
    env,
    signal,
    timeoutMs: buildMinutes * 60_000,
    onOutput: (_, chunk) => onOutput(chunk),
  });
  const digest = result.exitCode === 0 ? readFileSync(join(folder, "digest"), "utf8") : undefined;
  return { ...result, digest };
}
