import { buildOf } from "../../aws/app-names.ts";
import type { AppReader } from "../../aws/apps.ts";
import type { ImageRetention } from "../../aws/image-retention.ts";
import type { Rollouts } from "../../aws/rollouts.ts";
import { RedeployableBuilds } from "../../builds/model/rows.ts";
import type { TableReader } from "../../table/reader.ts";

interface Tools {
  table: TableReader;
  apps: AppReader;
  rollouts: Rollouts;
  images: ImageRetention;
}

/** An image younger than this is kept, whatever it is. */
const keptMs = 24 * 3_600_000;

/**
 * Deletes the images that nothing can need any more: not of what serves, which is also what a rollback of this build
 * restores, not of one of the newest successful builds, not of this build, and none of the last day. While a deployment
 * of the project is unfinished, or if ECS cannot be read, nothing is deleted. A run that dies is completed by the next build's.
 */
export async function removeOldImages(
  { projectId, buildId }: { projectId: string; buildId: string },
  { table, apps, rollouts, images }: Tools,
  now: Date,
): Promise<void> {
  const old = await images.olderThan(projectId, new Date(now.getTime() - keptMs));
  if (old.length === 0) return;
  const [live, unfinished, { redeployable }] = await Promise.all([
    apps.live(projectId),
    rollouts.unfinished(projectId),
    table.read({ redeployable: RedeployableBuilds.at({ projectId }) }),
  ]);
  if (unfinished.length > 0) return;
  const serving = live === null ? null : buildOf(live);
  // A task definition that is not ours tells no build: what it runs is not known.
  if (live !== null && serving === null) return;
  const kept = new Set([buildId, serving, ...(redeployable?.buildIds ?? [])]);
  await images.remove(
    projectId,
    old.filter((one) => !kept.has(one)),
  );
}
