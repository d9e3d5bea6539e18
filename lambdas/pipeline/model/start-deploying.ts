import { setTimeout as sleep } from "node:timers/promises";
import { runOptions } from "../../../api/stored-settings.ts";
import { buildOf } from "../../aws/app-names.ts";
import type { AppDeployer, AppReader } from "../../aws/apps.ts";
import { Build, type BuildRow } from "../../builds/model/rows.ts";
import { advance, type BuildKey } from "../../builds/model/transitions.ts";
import type { TableReader } from "../../table/reader.ts";
import type { TableWriter } from "../../table/writer.ts";

/** What an image build answers. */
export interface BuiltImage {
  digest: string;
  log: string;
  warning: string | null;
  port: number;
}

interface Tools {
  table: TableReader & TableWriter;
  apps: AppReader;
  deployer: AppDeployer;
}

/** For how long an answer of ECS that contradicts the project's builds may be an earlier state. */
const staleWithinMs = 5_000;

/**
 * The task definition that serves now. ECS may still describe the state before the project's last deployment; a rollback
 * to that state would replace the serving version, so an answer other than the newest `ready` build is read again. An ECS
 * that knows no service does not count against a `ready` build: a rollback to nothing would delete the service.
 */
async function servingNow(
  projectId: string,
  newestReady: string | undefined,
  { apps, table }: Tools,
): Promise<string | null> {
  const until = Date.now() + staleWithinMs;
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    const live = await apps.live(projectId);
    const isExpected = newestReady === undefined || (live !== null && buildOf(live) === newestReady);
    if (isExpected) return live;
    if (Date.now() >= until) {
      const { ready } = live === null ? await table.read({ ready: Build.at({ projectId, id: newestReady }) }) : {};
      return live ?? ready?.taskDefinition ?? null;
    }
    await sleep(pauseMs);
  }
}

/** What serves the project now and how it runs, so that a rollback restores all of it. */
async function previousOf(
  { projectId }: BuildRow,
  newestReady: string | undefined,
  tools: Tools,
): Promise<BuildRow["previous"]> {
  const taskDefinition = await servingNow(projectId, newestReady, tools);
  if (taskDefinition === null) return null;
  const buildId = buildOf(taskDefinition);
  const { old } = buildId === null ? {} : await tools.table.read({ old: Build.at({ projectId, id: buildId }) });
  const { healthPath, instances } = runOptions(old?.settings);
  return { taskDefinition, buildId, healthPath, instances };
}

/** What the new version runs as, what serves now, and what the image build said. */
async function prepared(
  build: BuildRow,
  newestReady: string | undefined,
  image: BuiltImage,
  tools: Tools,
): Promise<Partial<BuildRow>> {
  const { projectId, id: buildId, settings } = build;
  const app = { projectId, buildId, digest: image.digest, port: image.port, memory: runOptions(settings).memory };
  const [previous, taskDefinition, releaseDefinition] = await Promise.all([
    previousOf(build, newestReady, tools),
    tools.deployer.register(app, "serve"),
    settings?.releaseCommand?.trim() ? tools.deployer.register(app, "release") : undefined,
  ]);
  const warning = [build.warning, image.warning].filter(Boolean).join("\n") || null;
  const release = releaseDefinition === undefined ? {} : { releaseDefinition };
  return { taskDefinition, previous, warning, buildLog: image.log, ...release };
}

/**
 * building → deploying. What serves now is recorded in the very write that sets the status: read later, a retried step
 * would take the new version for the previous one and roll back to it. `isRepeated` says that it had been written before;
 * the build is undefined if it was canceled or has ended.
 */
export async function startDeploying(
  key: BuildKey,
  { build, newestReady }: { build: BuildRow | undefined; newestReady: string | undefined },
  image: BuiltImage,
  tools: Tools,
): Promise<{ build: (BuildRow & { taskDefinition: string }) | undefined; isRepeated: boolean }> {
  let found = build;
  let isRepeated = true;
  if (found?.status === "building") {
    const set = await prepared(found, newestReady, image, tools);
    const advanced = await advance(tools.table, key, "building", "deploying", set, new Date());
    isRepeated = !advanced.won;
    found = advanced.won ? { ...found, ...set, status: "deploying" } : advanced.build;
  }
  const { taskDefinition } = found ?? {};
  if (found?.status !== "deploying" || taskDefinition === undefined) return { build: undefined, isRepeated };
  return { build: { ...found, taskDefinition }, isRepeated };
}
