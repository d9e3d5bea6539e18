import { isFinished } from "../../sdk/wait-for-build.ts";
import { type Context, command, serviceOptions } from "../command.ts";
import { openOrganization, openTarget, type Target } from "../configuration.ts";
import { deployArchive } from "../deploy-archive.ts";
import { Failure, UsageError } from "../failure.ts";
import { keptArchive } from "../kept-archives.ts";
import { allProjects } from "../projects.ts";
import { printable } from "../terminal.ts";

/** `slipway promote [build] --to <profile>`: what was tried on one service goes to another, byte for byte. */
export const promote = command({
  details:
    "The archive of a build that slipway deploy sent from this machine is sent again, after its SHA-256 was checked.\n" +
    "Variables and settings are not copied: they differ between services on purpose.",
  operands: { shown: "[build-id]", min: 0, max: 1 },
  options: {
    to: { type: "string", value: "profile", describe: "the saved login of the other service" },
    "to-organization": { type: "string", value: "id", describe: "the organization there (default: the only one)" },
    "to-project": { type: "string", value: "id", describe: "the project there (default: the one of the same name)" },
    wait: { type: "boolean", describe: "wait for a build in progress there to end, then deploy" },
    ...serviceOptions,
  },
  run: async (args, context) => {
    const startedAt = performance.now();
    const to = args.text("to");
    if (to === undefined) throw new UsageError("Name the other service: --to <profile>, a saved login.");
    const from = await openTarget(args, context);
    const buildId = args.operands[0] ?? (await liveBuild(from));
    const { build } = await from.client.getBuild({ ...from.project, buildId });
    if (!isFinished(build) || build.status !== "ready")
      throw new Failure(`Build ${buildId} did not end as ready, so it is not promoted (${build.status}).`);
    const archive = await keptArchive(context.environment, buildId);
    const target = await openOther(from, context, {
      profile: to,
      organization: args.text("to-organization"),
      project: args.text("to-project"),
    });
    context.terminal.note(
      `Promoting build ${buildId} (SHA-256 ${archive.sha256.slice(0, 16)}…) to ${target.project.projectId} at ${target.baseUrl}.`,
    );
    const texts = { title: build.title ?? undefined, description: build.description ?? undefined };
    const { code } = await deployArchive(target, archive, context, {
      ...texts,
      wait: args.flag("wait"),
      json: args.flag("json"),
      startedAt,
    });
    return code;
  },
});

async function liveBuild({ client, project }: Target): Promise<string> {
  const { builds } = await client.listBuilds({ ...project, limit: 100 });
  const live = builds.find((build) => build.isLive && build.status === "ready");
  if (live === undefined)
    throw new Failure(
      "No build serves there now. Name the build to promote: slipway promote <build-id> --to <profile>",
    );
  return live.id;
}

/** The other service: only what was said about it counts, not the folder's link or the environment. */
async function openOther(
  from: Target,
  { environment, ...context }: Context,
  named: { profile: string; organization: string | undefined; project: string | undefined },
): Promise<Target> {
  const { HOME, XDG_CONFIG_HOME, SLIPWAY_CONFIG } = environment;
  const elsewhere = { ...context, environment: { HOME, XDG_CONFIG_HOME, SLIPWAY_CONFIG } };
  const text = (name: string) => new Map(Object.entries(named)).get(name);
  const { client, baseUrl, orgId } = await openOrganization({ text }, elsewhere);
  const projectId = named.project ?? (await projectOfSameName(from, { client, orgId }));
  return { client, baseUrl, project: { orgId, projectId } };
}

async function projectOfSameName(from: Target, to: Parameters<typeof allProjects>[0]): Promise<string> {
  const { name } = (await from.client.getProject(from.project)).project;
  const projects = await allProjects(to);
  const [first, ...others] = projects.filter((project) => project.name === name);
  if (first !== undefined && others.length === 0) return first.id;
  const known = projects.map((project) => `${project.id} (${printable(project.name)})`).join(", ");
  throw new Failure(`Name the project there with --to-project <id>${known && `: ${known}`}.`);
}
