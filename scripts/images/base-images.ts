import { execFileSync, type StdioOptions } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Docker } from "../../local/containers/docker.ts";
import { findEngine } from "../../local/containers/engine.ts";

/** The files from which base images are made. It is outside the repository and kept between runs. */
const imagesCache = join(process.env.XDG_CACHE_HOME ?? "/var/tmp", "slipway-images");
const registry = "public.ecr.aws/docker/library";
const folder = import.meta.dirname;
const npmFolder = join(imagesCache, "npm");
const debianFolder = join(imagesCache, "bookworm");
const tarball = join(debianFolder, "bookworm.tar");

const quiet: { stdio: StdioOptions } = { stdio: ["ignore", "ignore", "pipe"] };

interface BaseImage {
  names: string[];
  /** The name of the Containerfile in this folder, without extension. */
  file: string;
  context: string;
  /** Downloads the files of the context that are missing. */
  fetch: () => void;
  /** Whether a public registry has it. */
  isPublic: boolean;
}

/** In build order: each image may use the ones before it. */
const images: readonly BaseImage[] = [
  { names: ["slipway/bookworm"], file: "bookworm", context: debianFolder, fetch: bootstrap, isPublic: false },
  {
    names: [`${registry}/node:24-bookworm`, `${registry}/node:24-bookworm-slim`],
    file: "node",
    context: join(npmFolder, "node_modules"),
    fetch: fetchNode,
    isPublic: true,
  },
  {
    names: [`${registry}/python:3.13-bookworm`, `${registry}/python:3.13-slim-bookworm`],
    file: "python",
    context: folder,
    fetch: () => undefined,
    isPublic: true,
  },
];

/** Creates Debian as a tar file; the rename makes sure that the file is complete. */
function bootstrap(): void {
  if (existsSync(tarball)) return;
  const unneeded = ["doc", "locale", "man", "info"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  const options = ["--variant=minbase", "--include=ca-certificates", "--dpkgopt=force-unsafe-io", ...unneeded];
  const made = join(mkdtempSync(join(imagesCache, "bootstrap-")), "bookworm.tar");
  execFileSync("mmdebstrap", [...options, "--quiet", "bookworm", made], quiet);
  renameSync(made, tarball);
  rmSync(join(made, ".."), { recursive: true });
}

/** Downloads Node.js and npm from the npm registry. */
function fetchNode(): void {
  mkdirSync(npmFolder, { recursive: true });
  const options = ["--prefix", npmFolder, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
  const packages = [`node-linux@npm:node-linux-${process.arch}@24`, "npm@11"];
  execFileSync("npm", ["install", ...options, ...packages], quiet);
}

/** A hash of the recipes in this folder; when it changes, the images are built again. */
function revision(): string {
  const hash = createHash("sha256");
  const recipes = readdirSync(folder).filter((name) => /\.Containerfile$|^docker-entrypoint\.sh$/.test(name));
  for (const name of recipes.sort()) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest("hex").slice(0, 16);
}

const succeeds = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => true,
    () => false,
  );

/** True if the engine has this image: a pulled one, or one that was made here by the same recipe. */
async function isThere(docker: Docker, name: string, wanted: string): Promise<boolean> {
  const format = '{{index .Config.Labels "slipway.revision"}}';
  const found = await docker.run(["image", "inspect", "--format", format, name]).catch(() => undefined);
  return found === wanted || found === "";
}

/** True if the engine has all public base images of rendered Dockerfiles, or their stand-ins by the recipes of this folder. */
export async function hasBaseImages(docker: Docker): Promise<boolean> {
  const label = revision();
  const names = images.filter(({ isPublic }) => isPublic).flatMap((image) => image.names);
  return (await Promise.all(names.map((name) => isThere(docker, name, label)))).every(Boolean);
}

/** Pulls the images that are missing; false if one cannot be pulled, as on a machine without the internet. */
const pull = async (docker: Docker, names: readonly string[]): Promise<boolean> =>
  succeeds(Promise.all(names.map((name) => docker.run(["pull", "--quiet", name]))));

/**
 * Gives the engine the base images of rendered Dockerfiles: the public ones, or without a container registry their
 * stand-ins from packages of Debian and npm. `say` gets a line for each slow step.
 */
export async function prepareBaseImages(docker: Docker, say: (line: string) => void): Promise<void> {
  const label = revision();
  for (const { names, file, context, fetch, isPublic } of images) {
    const there = await Promise.all(names.map((name) => isThere(docker, name, label)));
    if (there.every(Boolean) || (isPublic && (await pull(docker, names)))) continue;
    say(`building ${names.join(" and ")}`);
    mkdirSync(debianFolder, { recursive: true });
    fetch();
    const contexts = ["--build-context", `scripts=${folder}`, "--build-context", "certificates=/etc/ssl/certs"];
    const tags = names.flatMap((name) => ["--tag", name]);
    const options = ["--quiet", "--label", `slipway.revision=${label}`, ...contexts, ...tags];
    await docker.run(["buildx", "build", ...options, "--file", join(folder, `${file}.Containerfile`), context]);
  }
}

if (import.meta.main) {
  const engine = await findEngine(process.env);
  if (engine.kind === "docker") await prepareBaseImages(engine.docker, console.log);
  else console.log(`No base images are made: ${engine.reason}`);
}
