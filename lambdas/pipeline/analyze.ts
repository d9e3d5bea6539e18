import { noSettings } from "../../api/stored-settings.ts";
import { inspect } from "../../buildpack/analysis/inspection.ts";
import { renderDockerfile, renderDockerignore } from "../../buildpack/image/dockerfile.ts";
import type { ImageRecipe } from "../../buildpack/image/recipe.ts";
import { archiveKey, isFinished } from "../builds/model/replies.ts";
import { Build, type BuildRow } from "../builds/model/rows.ts";
import { advance, type BuildKey } from "../builds/model/transitions.ts";
import { variablesOf } from "../environments/model/variables.ts";
import { Project } from "../http/model/project.ts";
import { BuildCanceled, BuildRejected, step } from "../http/step.ts";
import { absent, present } from "../table/entity.ts";
import type { TableReader } from "../table/reader.ts";
import type { TableWriter } from "../table/writer.ts";

type Table = TableReader & TableWriter;

/** pending → analyzing, with the uploaded version; does nothing if the step is repeated. */
async function begin(
  table: Table,
  key: BuildKey,
  archive: { key: string; version: string },
  size: number,
): Promise<void> {
  const started = await advance(table, key, "pending", "analyzing", { archive, size }, new Date());
  if (started.won) return;
  const build = started.build;
  if (!build || isFinished(build) || (build.status !== "analyzing" && build.status !== "building"))
    throw new BuildCanceled();
}

/** analyzing → building with the results; a canceled build keeps the results and ends here. */
async function conclude(table: Table, key: BuildKey, found: Partial<BuildRow>): Promise<void> {
  const moved = await advance(table, key, "analyzing", "building", found, new Date());
  if (moved.won || (moved.build?.status === "building" && !isFinished(moved.build))) return;
  const id = { projectId: key.projectId, id: key.buildId };
  await table.write({ build: Build.update(id, { set: found }, { status: "analyzing", canceledAt: present }) });
  throw new BuildCanceled();
}

/**
 * Linux passes at most 2 MiB of arguments and environment to a program; the rest is reserved for other variables. The
 * routes allow 1 MiB, but a project may have stored more before this limit existed.
 */
const variablesBytesMax = 1.5 * 1024 * 1024;

function refuseTooMany(variables: readonly { name: string; value: string }[]): void {
  // As in a program's environment: NAME=value and a NUL.
  const bytes = variables.reduce((sum, { name, value }) => sum + Buffer.byteLength(`${name}=${value}`) + 1, 0);
  if (bytes <= variablesBytesMax) return;
  throw new BuildRejected(
    `The project's variables have ${bytes} bytes together; a program can be started with at most ${variablesBytesMax}. Remove or shorten some, then build again.`,
  );
}

/**
 * Checks the whole archive, detects the runtime, plans the image, and writes what its build reads. Variables and settings
 * are those of the moment the analysis starts (docs/api.md, Redeploy).
 */
export const handler = step("analyze", async ({ deployment, archive }, { table, archives, artifacts }) => {
  const { organizationId, projectId, buildId } = deployment;
  const pinned = { key: archiveKey({ organizationId, projectId, id: buildId }), version: archive.version };
  const started = begin(table, deployment, pinned, archive.size);
  const inspecting = table
    .read({ project: Project.at({ id: projectId }) })
    .then(({ project }) => inspect(archives.bytes(pinned, archive.size), project?.settings ?? noSettings));
  const [inspected, variables] = await Promise.all([inspecting, variablesOf(table, projectId), started]);
  if (!inspected.ok) {
    if (inspected.runtime) await recordRuntime(table, deployment, inspected.runtime);
    throw new BuildRejected(inspected.message);
  }
  refuseTooMany(variables);
  const { plan, settings, suggestion, warning, findings, detected } = inspected;
  const recipe: ImageRecipe = {
    plan,
    dockerfile: renderDockerfile(plan, { variableNames: variables.map(({ name }) => name), projectId }),
    dockerignore: renderDockerignore(plan),
    staticServer: plan.static === null ? null : await staticServer(),
    variables,
  };
  await Promise.all([
    artifacts.put(buildId, { "recipe.json": JSON.stringify(recipe) }),
    artifacts.keepValues(
      projectId,
      buildId,
      variables.map(({ value }) => value),
    ),
    conclude(table, deployment, {
      runtime: plan.runtime,
      suggestion,
      warning,
      findings,
      port: plan.port,
      start: plan.start,
      settings,
      detected,
    }),
  ]);
  return {
    archiveKey: pinned.key,
    archiveVersion: pinned.version,
    artifactPrefix: artifacts.prefix(buildId),
    port: plan.port,
    releases: Boolean(settings.releaseCommand?.trim()),
  };
});

/** Loaded only if it is needed, because most apps have their own server. */
async function staticServer(): Promise<string> {
  const { staticServerText } = await import("../../buildpack/image/static-server/text.ts");
  return staticServerText();
}

async function recordRuntime(table: Table, key: BuildKey, runtime: NonNullable<BuildRow["runtime"]>): Promise<void> {
  const id = { projectId: key.projectId, id: key.buildId };
  await table.write({ build: Build.update(id, { set: { runtime } }, { status: "analyzing", canceledAt: absent }) });
}
