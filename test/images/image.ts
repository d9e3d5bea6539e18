import { type ExecFileException, execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import * as z from "zod";
import { inspect } from "../../buildpack/analysis/inspection.ts";
import type { Plan } from "../../buildpack/analysis/plan.ts";
import { renderBuildspec } from "../../buildpack/image/buildspec.ts";
import { renderDockerfile, renderDockerignore } from "../../buildpack/image/dockerfile.ts";
import type { ImageRecipe } from "../../buildpack/image/recipe.ts";
import { staticServerText } from "../../buildpack/image/static-server/text.ts";
import { buildah } from "../../scripts/images/buildah.ts";

/** An app's files by path; an object is written as JSON. */
export type Files = Readonly<Record<string, string | Buffer | object>>;
export type Variables = Readonly<Record<string, string>>;

const configSchema = z.object({
  User: z.string(),
  WorkingDir: z.string(),
  Env: z.array(z.string()),
  Cmd: z.array(z.string()),
  Entrypoint: z.array(z.string()).nullish(),
  StopSignal: z.string(),
  ExposedPorts: z.record(z.string(), z.unknown()),
});
const inspectSchema = z.object({ OCIv1: z.object({ config: configSchema }) });

/** What a build left behind: everything that it printed, what it was given, and, where it went well, the image. */
export interface Built {
  plan: Plan;
  dockerfile: string;
  log: string;
  /** The build arguments in their order, `_E0=value`. */
  buildArguments: string[];
  /** Null when the build failed. */
  image: { name: string; digest: string; config: z.infer<typeof configSchema> } | null;
}

const buildspec = z
  .object({ phases: z.record(z.string(), z.object({ commands: z.array(z.string()) })) })
  .parse(renderBuildspec());

/** An archive of the files. */
export async function zipOf(files: Files): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(files)) {
    const bytes = typeof content === "string" || Buffer.isBuffer(content) ? content : JSON.stringify(content, null, 2);
    zip.addBuffer(Buffer.from(bytes), path);
  }
  zip.end();
  return buffer(zip.outputStream);
}

async function planOf(archive: Buffer): Promise<Plan> {
  const read = async (offset: number, length: number) => archive.subarray(offset, offset + length);
  const inspected = await inspect({ size: archive.length, read });
  if (!inspected.ok) throw new Error(inspected.message);
  return inspected.plan;
}

/** The machine that the buildspec runs on: its /tmp is `folder`, S3 and ECR are files there, docker is buildah. */
function furnish(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const program = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/bin/bash\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const buildAccess = {
    archive: `file://${folder}/bucket/source.zip`,
    recipe: `file://${folder}/bucket/recipe.json`,
    registryPassword: "password",
  };
  program("aws", `printf '%s' '${JSON.stringify(buildAccess)}' > "\${@: -1}"`);
  program("docker", `exec "${process.execPath}" "${join(import.meta.dirname, "docker.ts")}" "$@"`);
  return bin;
}

async function runBuildspec(folder: string, name: string): Promise<{ succeeded: boolean; log: string }> {
  const commands = Object.values(buildspec.phases).flatMap((phase) => phase.commands);
  // As CodeBuild does it: behind `||` a shell forgets `set -e`.
  const script = commands
    .map((command) => `${command.replaceAll("/tmp/", `${folder}/`)}\n[ $? -eq 0 ] || exit 1`)
    .join("\n");
  const [repository, tag] = name.split(":");
  const env = {
    ...process.env,
    PATH: `${furnish(folder)}:${process.env.PATH}`,
    CODEBUILD_BUILD_ID: "images:00000000-0000-0000-0000-000000000000",
    ACCESS_FUNCTION: "grant-build-access",
    IMAGE_REPOSITORY: repository?.slice(0, repository.lastIndexOf("/")),
    IMAGE_TAG: tag,
    PROJECT_ID: "prj_images",
  };
  const ended = Promise.withResolvers<{ succeeded: boolean; log: string }>();
  const end = (error: ExecFileException | null, output: string, problems: string) =>
    ended.resolve({ succeeded: error === null, log: output + problems });
  execFile("/bin/bash", ["-c", `${script}\necho "digest $IMAGE_DIGEST"`], { env, maxBuffer: 2 ** 26 }, end);
  return ended.promise;
}

/** An archive's way to an image, as in a deployment: checked, analyzed, rendered, and built by the buildspec's own shell. */
export async function buildImage(files: Files, variables: Variables = {}): Promise<Built> {
  const archive = await zipOf(files);
  const plan = await planOf(archive);
  const dockerfile = renderDockerfile(plan, { variableNames: Object.keys(variables), projectId: "prj_images" });
  const recipe: ImageRecipe = {
    plan,
    dockerfile,
    dockerignore: renderDockerignore(plan),
    staticServer: plan.static === null ? null : await staticServerText(),
    variables: Object.entries(variables).map(([name, value]) => ({ name, value })),
  };
  const folder = mkdtempSync(join(tmpdir(), "slipway-image-"));
  try {
    mkdirSync(join(folder, "bucket"));
    const keep = (name: string, content: string | Buffer) => writeFileSync(join(folder, "bucket", name), content);
    keep("source.zip", archive);
    keep("recipe.json", JSON.stringify(recipe));
    const name = `localhost/slipway-test/prj_images:${folder.slice(-6).toLowerCase()}`;
    const { succeeded, log } = await runBuildspec(folder, name);
    const passed = join(folder, "build", "Dockerfile.arguments");
    if (!existsSync(passed)) throw new Error(`The build ended before its Dockerfile was built:\n${log}`);
    const buildArguments = z.array(z.string()).parse(JSON.parse(readFileSync(passed, "utf8")));
    return { plan, dockerfile, log, buildArguments, image: succeeded ? await imageOf(name, log) : null };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function imageOf(name: string, log: string): Promise<NonNullable<Built["image"]>> {
  const found = inspectSchema.parse(JSON.parse(await buildah(["inspect", "--type", "image", name])));
  const digest = /^digest (sha256:[0-9a-f]{64})$/m.exec(log)?.[1] ?? "";
  return { name, digest, config: found.OCIv1.config };
}

/** The image of a build that must go well; its log is the error otherwise. */
export function imageIn(built: Built): NonNullable<Built["image"]> {
  if (built.image === null) throw new Error(`The image was not built:\n${built.log}`);
  return built.image;
}
