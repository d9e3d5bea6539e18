import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import * as z from "zod";
import { inspect } from "../../buildpack/analysis/inspection.ts";
import type { Plan } from "../../buildpack/analysis/plan.ts";
import { renderDockerfile, renderDockerignore } from "../../buildpack/image/dockerfile.ts";
import type { ImageRecipe } from "../../buildpack/image/recipe.ts";
import { staticServerText } from "../../buildpack/image/static-server/text.ts";
import { createContainerBuilder } from "../../local/codebuild/container-builder.ts";
import { BuildFailed } from "../../local/codebuild/image.ts";
import type { DockerEngine } from "../../local/containers/engine.ts";
import { engineOfTests, projectId, registryOfTests, repositories } from "./engine.ts";

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

/** The result of a build: everything that it printed and, if it succeeded, the image. */
export interface Built {
  plan: Plan;
  dockerfile: string;
  log: string;
  /** Null when the build failed. */
  image: { name: string; digest: string; config: z.infer<typeof configSchema> } | null;
}

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

/** What goes wrong in a build. */
export interface Fault {
  /** The engine as the build reaches it. */
  engine?: DockerEngine;
  /** Changes the Dockerfile. */
  dockerfile?(text: string): string;
  onLine?(line: string): void;
}

/** Runs the buildspec as the embedded CodeBuild does, with these files instead of S3. */
async function build(folder: string, tag: string, fault: Fault): Promise<{ log: string; digest: string | null }> {
  const { ecr, password } = await registryOfTests();
  const access = {
    archive: `file://${folder}/source.zip`,
    recipe: `file://${folder}/recipe.json`,
    registryPassword: password,
  };
  const builder = createContainerBuilder({
    engine: fault.engine ?? engineOfTests(),
    registryHost: ecr.host,
    repositories,
    invoke: async () => access,
  });
  const lines: string[] = [];
  const put = (line: string) => {
    lines.push(line);
    fault.onLine?.(line);
  };
  const work = join(folder, "work");
  mkdirSync(work);
  const variables = { IMAGE_TAG: tag, PROJECT_ID: projectId };
  const { signal } = new AbortController();
  const id = "images:00000000-0000-0000-0000-000000000000";
  try {
    const built = await builder({ id, folder: work, variables, put, signal });
    return { log: lines.join("\n"), digest: built.IMAGE_DIGEST };
  } catch (error) {
    if (!(error instanceof BuildFailed)) throw error;
    return { log: lines.join("\n"), digest: null };
  }
}

/** An archive's way to an image, as in a deployment: checked, analyzed, rendered, and built by the buildspec's own shell. */
export async function buildImage(files: Files, variables: Variables = {}, fault: Fault = {}): Promise<Built> {
  const archive = await zipOf(files);
  const plan = await planOf(archive);
  const rendered = renderDockerfile(plan, { variableNames: Object.keys(variables), projectId });
  const dockerfile = fault.dockerfile?.(rendered) ?? rendered;
  const recipe: ImageRecipe = {
    plan,
    dockerfile,
    dockerignore: renderDockerignore(plan),
    staticServer: plan.static === null ? null : await staticServerText(),
    variables: Object.entries(variables).map(([name, value]) => ({ name, value })),
  };
  const folder = mkdtempSync(join(tmpdir(), "slipway-image-"));
  try {
    writeFileSync(join(folder, "source.zip"), archive);
    writeFileSync(join(folder, "recipe.json"), JSON.stringify(recipe));
    const { log, digest } = await build(folder, folder.slice(-6).toLowerCase(), fault);
    return { plan, dockerfile, log, image: digest === null ? null : await imageOf(digest) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function imageOf(digest: string): Promise<NonNullable<Built["image"]>> {
  const engine = engineOfTests();
  const { ecr } = await registryOfTests();
  const name = await ecr.pull(`local/${repositories}/${projectId}@${digest}`, engine);
  const config = await engine.docker.run(["image", "inspect", "--format", "{{json .Config}}", name]);
  return { name, digest, config: configSchema.parse(JSON.parse(config)) };
}

/** The image of a build that must go well; its log is the error otherwise. */
export function imageIn(built: Built): NonNullable<Built["image"]> {
  if (built.image === null) throw new Error(`The image was not built:\n${built.log}`);
  return built.image;
}
