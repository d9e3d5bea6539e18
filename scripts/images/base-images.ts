import { execFileSync, type StdioOptions } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildah, imagesCache, noImagesBecause } from "./buildah.ts";

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
}

/** In build order: each image may use the ones before it. */
const images: readonly BaseImage[] = [
  { names: ["localhost/slipway/bookworm"], file: "bookworm", context: debianFolder, fetch: bootstrap },
  {
    names: [`${registry}/node:24-bookworm`, `${registry}/node:24-bookworm-slim`],
    file: "node",
    context: join(npmFolder, "node_modules"),
    fetch: fetchNode,
  },
  {
    names: [`${registry}/python:3.13-bookworm`, `${registry}/python:3.13-slim-bookworm`],
    file: "python",
    context: folder,
    fetch: () => undefined,
  },
];

/** Creates Debian as a tar file; the rename makes sure that the file is complete. */
function bootstrap(): void {
  if (existsSync(tarball)) return;
  const unneeded = ["doc", "locale", "man", "info"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  const options = ["--variant=minbase", "--include=ca-certificates", "--dpkgopt=force-unsafe-io", ...unneeded];
  const made = join(mkdtempSync(join(imagesCache, "bootstrap-")), "bookworm.tar");
  execFileSync("mmdebstrap", [...options, "--quiet", "bookworm", made, "http://deb.debian.org/debian"], quiet);
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

/** A hash of all files in this folder; when it changes, the images are built again. */
function revision(): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, name)));
  return hash.digest("hex").slice(0, 16);
}

async function isMade(name: string, wanted: string): Promise<boolean> {
  const format = '{{index .OCIv1.Config.Labels "slipway.revision"}}';
  return buildah(["inspect", "--type", "image", "--format", format, name]).then(
    (found) => found === wanted,
    () => false,
  );
}

/**
 * Builds the missing base images of rendered Dockerfiles from packages of Debian and npm, without an image registry.
 * `say` gets a line for each slow step.
 */
export async function prepareBaseImages(say: (line: string) => void): Promise<void> {
  mkdirSync(debianFolder, { recursive: true });
  const label = revision();
  for (const { names, file, context, fetch } of images) {
    const made = await Promise.all(names.map((name) => isMade(name, label)));
    if (made.every(Boolean)) continue;
    say(`building ${names.join(" and ")}`);
    fetch();
    const contexts = ["--build-context", `scripts=${folder}`, "--build-context", "certificates=/etc/ssl/certs"];
    const tags = names.flatMap((name) => ["--tag", name]);
    const options = ["--pull-never", "--label", `slipway.revision=${label}`, ...contexts, ...tags];
    await buildah(["build", ...options, "--file", join(folder, `${file}.Containerfile`), context]);
  }
  // Removes older images whose names now belong to newer ones.
  await buildah(["rmi", "--prune"]);
}

if (import.meta.main) {
  const reason = noImagesBecause();
  if (reason === null) await prepareBaseImages(console.log);
  else console.log(`image tests are skipped: ${reason}`);
}
