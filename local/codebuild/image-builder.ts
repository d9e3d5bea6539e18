import { createHash } from "node:crypto";
import { closeSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import type { Plan } from "../../buildpack/analysis/plan.ts";
import { staticServerPath } from "../../buildpack/analysis/static-command.ts";
import { runEnvironment, startNeedsManager, virtualEnvironment } from "../../buildpack/image/commands.ts";
import { localCommands } from "../../buildpack/image/local.ts";
import { recipeSchema } from "../../buildpack/image/recipe.ts";
import { startArguments } from "../../buildpack/image/start.ts";
import { openArchive } from "../../buildpack/zip/archive.ts";
import { ArchiveRefused } from "../../buildpack/zip/refused.ts";
import { extractArchive } from "../archive/extract-archive.ts";
import { descriptorSource } from "../archive/file-source.ts";
import { inContainerPaths } from "../process/container-paths.ts";
import { runProcessGroup } from "../process/run.ts";
import { BuildFailed, type Image, type ImageBuild, type ImageBuilder, imageFolder, imageRoot } from "./image.ts";
import { buildMinutes } from "./limits.ts";
import { lineWriter } from "./line-writer.ts";
import { certificates, type RuntimeHome, RuntimeMissing, type Runtimes, searchPath } from "./runtimes.ts";

const inputSchema = z.object({
  SOURCE_BUCKET: z.string(),
  SOURCE_KEY: z.string(),
  SOURCE_VERSION: z.string(),
  ARTIFACT_BUCKET: z.string(),
  ARTIFACT_PREFIX: z.string(),
  PROJECT_ID: z.string(),
  IMAGE_TAG: z.string(),
});

/** The variable that marks the processes of a build, so that daemons end with the command that started them. */
const buildMark = "SLIPWAY_BUILD";

/** Opens an object of the local S3 and returns a file descriptor, which the caller closes. */
export type OpenObject = (bucket: string, key: string, versionId?: string) => number;

function textOf(descriptor: number): string {
  try {
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

async function unpack(descriptor: number, target: string): Promise<void> {
  const source = descriptorSource(descriptor);
  try {
    await extractArchive(await openArchive(source), target);
  } catch (error) {
    if (error instanceof ArchiveRefused) throw new BuildFailed(error.message);
    throw error;
  } finally {
    source.close();
  }
}

async function homeOf(plan: Plan, runtimes: Runtimes, build: ImageBuild): Promise<RuntimeHome> {
  try {
    return plan.language === "nodejs"
      ? await runtimes.node(plan.version, build.put, build.signal)
      : await runtimes.python(plan.version);
  } catch (error) {
    if (error instanceof RuntimeMissing) throw new BuildFailed(error.message);
    throw error;
  }
}

async function writeStaticServer(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** The package managers that the runtime itself brings: npm with Node.js, pip with a virtual environment. */
function includedManagers(plan: Plan): ReadonlySet<string> {
  return new Set(plan.language === "nodejs" ? ["npm"] : ["pip"]);
}

/** The folder for package managers that the runtime does not bring. */
const toolsOf = (image: string) => join(image, "tools");

/**
 * Builds an image without a container engine: it extracts the archive to a folder, runs the plan's commands there with
 * Node.js or Python of this machine, and writes the start command to image.json beside it.
 */
export function createImageBuilder(options: {
  imagesDir: string;
  cacheDir: string;
  runtimes: Runtimes;
  open: OpenObject;
}): ImageBuilder {
  return async (build) => {
    const input = inputSchema.parse(build.variables);
    const identity = `${input.IMAGE_TAG} ${input.SOURCE_VERSION} ${Date.now()}`;
    const digest = `sha256:${createHash("sha256").update(identity).digest("hex")}`;
    // The image is built in its final folder, because installers write absolute paths into files.
    const image = imageFolder(options.imagesDir, digest);
    try {
      const warning = await fill(image, input, build);
      return { IMAGE_DIGEST: digest, ...(warning && { IMAGE_WARNING: warning }) };
    } catch (error) {
      // A failure to remove the files must not hide the reason why the build failed.
      await rm(image, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
      throw error;
    }
  };

  async function fill(
    image: string,
    input: z.infer<typeof inputSchema>,
    build: ImageBuild,
  ): Promise<string | undefined> {
    const root = join(image, imageRoot);
    const text = textOf(options.open(input.ARTIFACT_BUCKET, `${input.ARTIFACT_PREFIX}recipe.json`));
    const { plan, staticServer, variables: named } = recipeSchema.parse(JSON.parse(text));
    const variables = Object.fromEntries(named.map(({ name, value }) => [name, value]));
    build.put(`Detected: ${plan.runtime} with ${plan.packageManager.name}. Started with: ${plan.start}`);
    const home = await homeOf(plan, options.runtimes, build);
    await mkdir(dirname(image), { recursive: true });
    await mkdir(image);
    await unpack(options.open(input.SOURCE_BUCKET, input.SOURCE_KEY, input.SOURCE_VERSION), root);
    if (staticServer !== null) await writeStaticServer(join(root, plan.root, staticServerPath), staticServer);
    const path = await searchPathOf(plan, home, image);
    await runCommands({ plan, variables, home, path, image, build });
    if (!startNeedsManager(plan)) await rm(toolsOf(image), { recursive: true, force: true });
    const started: Image = {
      command: startArguments(plan),
      env: { HOME: join(root, plan.root), PATH: path, ...runEnvironment(plan), ...variables },
      folder: plan.root,
      projectId: input.PROJECT_ID,
    };
    await writeFile(join(image, "image.json"), JSON.stringify(started), { mode: 0o600 });
    return home.warning;
  }

  /** PATH of the image: the app's own programs first, then the chosen runtime (also as `python`). */
  async function searchPathOf(plan: Plan, home: RuntimeHome, image: string): Promise<string> {
    const app = join(image, imageRoot, plan.root);
    const own = join(app, plan.language === "nodejs" ? "node_modules/.bin" : `${virtualEnvironment}/bin`);
    const managers = join(toolsOf(image), "bin");
    if (plan.language === "nodejs") return searchPath({ ...home, path: [...home.path, own, managers] });
    const bin = join(image, "bin");
    await mkdir(bin);
    for (const name of ["python", "python3"]) {
      await writeFile(join(bin, name), `#!/bin/sh\nexec ${home.program} "$@"\n`, { mode: 0o755 });
    }
    return searchPath({ ...home, path: [own, managers, bin] });
  }

  async function runCommands(run: {
    plan: Plan;
    variables: Record<string, string>;
    home: RuntimeHome;
    path: string;
    image: string;
    build: ImageBuild;
  }): Promise<void> {
    const { plan, variables, home, path, image, build } = run;
    const cwd = join(image, imageRoot, plan.root);
    const shown = inContainerPaths(cwd);
    const tools = toolsOf(image);
    const commands = localCommands(plan, { python: home.program, tools, managers: includedManagers(plan) });
    for (const { stage, command, env } of commands) {
      build.put(`${stage}: ${command}`);
      const write = lineWriter((line) => build.put(shown(line)));
      const result = await runProcessGroup("/bin/sh", ["-c", command], {
        cwd,
        mark: buildMark,
        env: {
          ...certificates(),
          HOME: build.folder,
          npm_config_cache: join(options.cacheDir, "npm"),
          npm_config_update_notifier: "false",
          PIP_CACHE_DIR: join(options.cacheDir, "pip"),
          ...plan.env,
          ...env,
          ...(stage === "build" && variables),
          PATH: path,
          [buildMark]: image,
        },
        signal: build.signal,
        timeoutMs: buildMinutes * 60_000,
        onOutput: (_, chunk) => write(chunk),
      });
      write(Buffer.from("\n"));
      if (result.endedBy === "timeout") throw new BuildFailed(`${command} took longer than ${buildMinutes} minutes`);
      if (result.exitCode !== 0) throw new BuildFailed(`${command} failed with exit code ${result.exitCode}`);
    }
  }
}
