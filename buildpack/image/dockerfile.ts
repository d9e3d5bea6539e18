import type { Plan } from "../analysis/plan.ts";
import { staticServerPath } from "../analysis/static-command.ts";
import {
  buildCommands,
  installCommands,
  managerCommand,
  managerEnvironment,
  runEnvironment,
  startNeedsManager,
  virtualEnvironment,
} from "./commands.ts";
import { startArguments } from "./start.ts";

/** Inputs for a Dockerfile, in addition to its plan. */
export interface ImageInput {
  /** In the order in which their values are passed as build arguments; throws if a name is invalid. */
  variableNames: readonly string[];
  /** Caches are not shared between projects. */
  projectId: string;
}

const registry = "public.ecr.aws/docker/library";
const validName = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The Dockerfile of a plan (docs/detection.md, Image): it contains names of variables but never values. Throws if a name is invalid. */
export function renderDockerfile(plan: Plan, input: ImageInput): string {
  const manager = managerCommand(plan);
  const lines = [
    ...(isOnlyCopied(plan) ? [] : [...buildStages(plan, input), ""]),
    `FROM ${baseImages(plan).run}`,
    ...systemPackages(plan),
    ...(manager !== null && startNeedsManager(plan) ? [`RUN ${manager}`] : []),
    // Before the app's files: a layer after them would be rebuilt with every change.
    "WORKDIR /app",
    ...copyApp(plan),
    ...envLines({ HOME: "/app", ...runEnvironment(plan), PATH: `${binaries(plan)}:${systemPath}` }),
    ...variableLines(input.variableNames),
    "USER 1000",
    `EXPOSE ${plan.port}`,
    "STOPSIGNAL SIGTERM",
    // The entry point of Node.js images is a shell script that changes variables such as IFS and mistakes a file with a program's name for a script.
    "ENTRYPOINT []",
    `CMD ${JSON.stringify(startArguments(plan))}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** True if no command runs in the build, so that the large image with compilers is not needed. */
function isOnlyCopied(plan: Plan): boolean {
  return plan.static === null && installCommands(plan).length + buildCommands(plan).length === 0;
}

function buildStages(plan: Plan, { variableNames, projectId }: ImageInput): string[] {
  const run = (command: string) => `RUN ${cacheMount(projectId)} ${oneLine(command)}`;
  const manager = managerCommand(plan);
  return [
    `FROM ${baseImages(plan).build} AS build`,
    "WORKDIR /app",
    ...envLines({
      ...cacheEnvironment(plan),
      ...managerEnvironment(plan),
      ...plan.buildEnv,
      PATH: `${binaries(plan)}:${systemPath}`,
    }),
    ...(manager === null ? [] : [run(manager)]),
    ...copyManifests(plan),
    ...installCommands(plan).map(({ command }) => run(command)),
    ...(plan.manifests === null ? [] : ["COPY . ."]),
    ...(plan.static === null ? [] : [`COPY --from=slipway static-server.mjs ./${staticServerPath}`]),
    ...envLines(plan.env),
    ...variableLines(variableNames),
    ...buildCommands(plan).map(({ command }) => run(command)),
    ...separated(plan),
  ];
}

/** The Debian release is explicit, because the images' defaults differ between release lines. */
function baseImages({ language, version }: Plan): { build: string; run: string } {
  if (language === "nodejs")
    return { build: `${registry}/node:${version}-bookworm`, run: `${registry}/node:${version}-bookworm-slim` };
  return { build: `${registry}/python:${version}-bookworm`, run: `${registry}/python:${version}-slim-bookworm` };
}

const binaries = (plan: Plan): string =>
  plan.language === "nodejs" ? "/app/node_modules/.bin" : `/app/${virtualEnvironment}/bin`;

/**
 * Values are passed unchanged as build arguments named by index; `ENV K="…"` cannot hold a newline (docs/detection.md, Image).
 * One instruction sets all of them, because an instruction sees the variables set before it: a variable named _E1 must not change another.
 */
function variableLines(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  for (const name of names) if (!validName.test(name)) throw new Error("Invalid variable name.");
  return [
    ...names.map((_, index) => `ARG _E${index}`),
    `ENV ${names.map((name, index) => `${name}=$_E${index}`).join(" \\\n    ")}`,
  ];
}

/**
 * Environment with known values: letters, digits and paths, quoted as JSON; `$` is escaped. One instruction, because an image keeps
 * a line of history for each.
 */
function envLines(environment: Readonly<Record<string, string>>): string[] {
  const parts = Object.entries(environment).map(
    ([name, value]) => `${name}=${JSON.stringify(value).replaceAll("$", "\\$")}`,
  );
  return parts.length === 0 ? [] : [`ENV ${parts.join(" \\\n    ")}`];
}

const cacheFolder = "/root/.cache";

function cacheMount(projectId: string): string {
  if (!/^[\w-]+$/.test(projectId)) throw new Error("Invalid project id.");
  return `--mount=type=cache,id=${projectId},target=${cacheFolder}`;
}

/** The caches of all package managers are below one mount. */
function cacheEnvironment({ packageManager, manifests }: Plan): Record<string, string> {
  switch (packageManager.name) {
    case "npm":
      return { NPM_CONFIG_CACHE: `${cacheFolder}/npm` };
    case "pnpm":
      return { npm_config_store_dir: `${cacheFolder}/pnpm`, pnpm_config_store_dir: `${cacheFolder}/pnpm` };
    case "yarn":
      if (manifests?.includes(".yarn/cache/") === true) return {};
      return {
        YARN_CACHE_FOLDER: `${cacheFolder}/yarn`,
        YARN_ENABLE_GLOBAL_CACHE: "true",
        YARN_GLOBAL_FOLDER: `${cacheFolder}/berry`,
      };
    case "bun":
      return { BUN_INSTALL_CACHE_DIR: `${cacheFolder}/bun` };
    case "pip":
    case "uv":
    case "poetry":
    case "pdm":
    case "pipenv":
      return { XDG_CACHE_HOME: cacheFolder };
  }
}

/** A command in package.json may span several lines; a Dockerfile instruction may not. */
const oneLine = (command: string): string => command.replace(/\s*[\r\n]+\s*/g, " ").replace(/\\$/, "");

/** Copies the manifests, one layer per folder, or everything. */
function copyManifests(plan: Plan): string[] {
  if (plan.manifests === null) return ["COPY . ."];
  const folders = new Map<string, string[]>();
  const lines: string[] = [];
  for (const path of plan.manifests) {
    if (path.endsWith("/")) lines.push(`COPY ${JSON.stringify([path, `./${path}`])}`);
    else {
      const folder = `./${path.slice(0, path.lastIndexOf("/") + 1)}`;
      folders.set(folder, [...(folders.get(folder) ?? []), path]);
    }
  }
  return [...[...folders].map(([folder, paths]) => `COPY ${JSON.stringify([...paths, folder])}`), ...lines];
}

/** The folder of the installed packages; null if nothing is installed, or if the image does not get them. */
function dependencies(plan: Plan): string | null {
  if (plan.static !== null || installCommands(plan).length === 0) return null;
  return plan.language === "nodejs" ? "node_modules" : virtualEnvironment;
}

/**
 * `python -m venv` copies packages that the base image has too. Equal copies are removed, and the environment falls back to the base
 * image's; this keeps the image small. pip can still be upgraded while the app runs, because it installs into the environment.
 * `_base.pth` sorts before the .pth file of setuptools, so it is loaded first.
 */
const shareBasePackages = (folder: string): string =>
  [
    `; site=$(echo ${folder}/lib/python*/site-packages); rm -f ${folder}/bin/[Aa]ctivate.*`,
    `; base=$(/usr/local/bin/python -I -c "import os, pip; print(os.path.dirname(pip.__path__[0]))" 2> /dev/null)`,
    " && for name in pip setuptools pkg_resources _distutils_hack",
    `; do diff -rq -x __pycache__ -x '*.exe' "$site/$name" "$base/$name" > /dev/null 2>&1`,
    ` && rm -rf "$site/$name" "$site/$name"-*.dist-info && echo "$base" > "$site/_base.pth"; done; true`,
  ].join("");

/**
 * A stage with the app without its packages, so that these are a layer of their own in the image: a change of source pushes
 * and pulls only the rest. Tools keep caches beside the packages, which would change their layer with every build.
 */
function separated(plan: Plan): string[] {
  const folder = dependencies(plan);
  if (folder === null) return [];
  const afterwards =
    plan.language === "nodejs"
      ? ` && rm -rf ${[".cache", ".vite", ".vite-temp"].map((name) => `${folder}/${name}`).join(" ")}`
      : shareBasePackages(folder);
  return [`RUN mkdir -p ${folder}${afterwards}`, "", "FROM build AS source", `RUN rm -rf ${folder}`];
}

/** The content of the run stage: a static site's files and their server, else the packages and the rest of the app. */
function copyApp(plan: Plan): string[] {
  if (isOnlyCopied(plan)) return ["COPY --link --chown=1000:1000 . /app"];
  const copy = (stage: string, path: string) =>
    `COPY --link --chown=1000:1000 --from=${stage} ${JSON.stringify([`/app${path}`, `/app${path}`])}`;
  if (plan.static !== null) return [`/${plan.static.dir}`, `/${staticServerPath}`].map((path) => copy("build", path));
  const folder = dependencies(plan);
  return folder === null ? [copy("build", "")] : [copy("build", `/${folder}`), copy("source", "")];
}

function systemPackages({ systemPackages: names }: Plan): string[] {
  if (names.length === 0) return [];
  return [
    `RUN apt-get update && apt-get install -y --no-install-recommends ${names.join(" ")} && rm -rf /var/lib/apt/lists/*`,
  ];
}

/** Files excluded from the build context. This file is beside the Dockerfile, so it overrides the archive's own .dockerignore. */
export function renderDockerignore(plan: Plan): string {
  const installed =
    plan.install === null || plan.installsNothing
      ? []
      : ["**/node_modules", `**/${virtualEnvironment}`, "**/__pycache__"];
  return `${["**/.git", "**/.DS_Store", "**/__MACOSX", ...installed].join("\n")}\n`;
}
