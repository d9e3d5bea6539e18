import type { Plan } from "../analysis/plan.ts";
import { staticServerPath } from "../analysis/static-command.ts";
import { buildCommands, installCommands, managerCommand, managerEnvironment, virtualEnvironment } from "./commands.ts";
import { startArguments } from "./start.ts";

export interface ImageInput {
  /** In the order in which their values are passed as build arguments. */
  variableNames: readonly string[];
  /** Caches are a project's own. */
  projectId: string;
}

const registry = "public.ecr.aws/docker/library";
const validName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The Debian release is named: the images' defaults differ between lines. */
function baseImages(plan: Plan): { build: string; run: string } {
  const { language, version } = plan;
  if (language === "nodejs")
    return { build: `${registry}/node:${version}-bookworm`, run: `${registry}/node:${version}-bookworm-slim` };
  return { build: `${registry}/python:${version}-bookworm`, run: `${registry}/python:${version}-slim-bookworm` };
}

/** Values reach the image exactly as build arguments under index names; `ENV K="…"` cannot hold a newline (DESIGN §9). */
function variableLines(names: readonly string[]): string[] {
  for (const name of names) if (!validName.test(name)) throw new Error("A variable's name is not one");
  return names.flatMap((name, index) => [`ARG _E${index}`, `ENV ${name}=$_E${index}`]);
}

const envLines = (environment: Readonly<Record<string, string>>) =>
  Object.entries(environment).map(([name, value]) => `ENV ${name}=${JSON.stringify(value).replaceAll("$", "\\$")}`);

function cacheMounts(plan: Plan, projectId: string): string {
  const folders =
    plan.language === "nodejs"
      ? { npm: "/root/.npm", pnpm: "/root/.local/share/pnpm/store", yarn: "/usr/local/share/.cache/yarn" }
      : { pip: "/root/.cache/pip", uv: "/root/.cache/uv", poetry: "/root/.cache/pypoetry" };
  return Object.entries(folders)
    .map(([name, folder]) => `--mount=type=cache,id=${projectId}-${name},target=${folder} `)
    .join("");
}

const quotedList = (items: readonly string[]) => JSON.stringify(items);

function copyManifests(plan: Plan): string[] {
  if (plan.manifests === null) return ["COPY . ."];
  return plan.manifests.map((path) => {
    const isFolder = !/\.[^/]+$|(^|\/)(Pipfile|package\.json)$/.test(path);
    return `COPY ${quotedList([path, isFolder ? `./${path}/` : `./${path}`])}`;
  });
}

/** The Dockerfile of a plan (DETECTION "Image"): names of variables stand in it, values never do. */
export function renderDockerfile(plan: Plan, input: ImageInput): string {
  const base = baseImages(plan);
  const mounts = cacheMounts(plan, input.projectId);
  const manager = managerCommand(plan);
  const path = plan.language === "nodejs" ? "/app/node_modules/.bin" : `/app/${virtualEnvironment}/bin`;
  const run = (command: string) => `RUN ${mounts}${command.replaceAll(/\r?\n/g, " ")}`;
  const packages = plan.systemPackages.join(" ");
  const lines = [
    `FROM ${base.build} AS build`,
    "WORKDIR /app",
    ...envLines({
      CI: "true",
      ...managerEnvironment(plan),
      ...plan.buildEnv,
      PATH: `${path}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    }),
    ...(manager === null ? [] : [run(manager)]),
    ...copyManifests(plan),
    ...installCommands(plan).map(({ command }) => run(command)),
    "COPY . .",
    ...(plan.static === null ? [] : [`COPY --from=slipway static-server.mjs ./${staticServerPath}`]),
    ...envLines(plan.env),
    ...variableLines(input.variableNames),
    ...buildCommands(plan).map(({ command }) => run(command)),
    "",
    `FROM ${base.run}`,
    ...(packages
      ? [`RUN apt-get update && apt-get install -y --no-install-recommends ${packages} && rm -rf /var/lib/apt/lists/*`]
      : []),
    "WORKDIR /app",
    "COPY --link --chown=1000:1000 --from=build /app /app",
    ...envLines({
      ...plan.env,
      HOME: "/app",
      PATH: `${path}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    }),
    ...variableLines(input.variableNames),
    "USER 1000",
    `EXPOSE ${plan.port}`,
    "STOPSIGNAL SIGTERM",
    `CMD ${quotedList(startArguments(plan))}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** What never goes into the image's context; it stands beside the Dockerfile, so that the archive's own file does not apply. */
export function renderDockerignore(plan: Plan): string {
  const installed = plan.install === null ? [] : ["**/node_modules", virtualEnvironment];
  return `${[".git", "**/.DS_Store", "__MACOSX", ...installed].join("\n")}\n`;
}
