import { limits } from "../../../api/limits.ts";
import { runOptions } from "../../../api/stored-settings.ts";
import type { AppExit, AppExits } from "../../aws/app-exits.ts";
import { taskLog } from "../../aws/app-names.ts";
import type { BuildValues } from "../../aws/build-values.ts";
import type { LogReader } from "../../aws/logs.ts";
import type { TableReader } from "../../table/reader.ts";
import type { RowUpdater } from "../../table/updater.ts";
import { buildMask } from "./build-mask.ts";
import { type BuildRow, LiveBuildCache, type LiveBuildCacheRow } from "./rows.ts";

interface Tools {
  table: TableReader;
  liveCache: RowUpdater;
  exits: AppExits;
  logs: LogReader;
  values: BuildValues;
}

/** A single exit is an accident; from this many within an hour on the app is crashing. */
const crashesMin = 2;
const linesShown = 10;
const lineCharactersMax = 300;

async function messageOf(build: BuildRow, exits: readonly AppExit[], tools: Tools): Promise<string | null> {
  const [last] = exits;
  if (last === undefined || exits.length < crashesMin) return null;
  const { projectId, id: buildId } = build;
  const [lines, mask] = await Promise.all([
    tools.logs.tail("app", taskLog({ projectId, buildId, taskId: last.taskId }), linesShown),
    buildMask(build, tools),
  ]);
  const memory = last.isOutOfMemory
    ? ` (it used more than its ${runOptions(build.settings).memory} MiB of memory)`
    : "";
  const how =
    last.exitCode === undefined ? (last.reason ?? "without an exit code") : `exit code ${last.exitCode}${memory}`;
  const output = lines.map(({ text }) => mask(text).slice(0, lineCharactersMax));
  return [
    `The app keeps crashing: ${exits.length} restarts in the last hour, the last one at ${last.at.toISOString()} after ${how}.`,
    ...(output.length === 0 ? ["It wrote no output."] : ["Last output:", ...output]),
  ].join("\n");
}

/**
 * What to tell about a live build whose app keeps ending by itself; null if it does not, or if that cannot be read. Shared
 * by all readers for a few seconds, because ECS allows few such calls.
 */
export async function crashMessage(
  build: BuildRow,
  cached: LiveBuildCacheRow | undefined,
  now: Date,
  tools: Tools,
): Promise<string | null> {
  const known = cached?.crashes;
  const isYoung = known && now.getTime() - Date.parse(known.readAt) < limits.liveCacheSeconds * 1000;
  if (isYoung && known.buildId === build.id) return known.message;
  try {
    const message = await messageOf(build, await tools.exits.of(build.id, now), tools);
    const crashes = { buildId: build.id, readAt: now.toISOString(), message };
    const update = LiveBuildCache.update({ projectId: build.projectId }, { set: { crashes } }, { buildId: build.id });
    tools.liveCache.updateBestEffort(update).catch(() => undefined);
    return message;
  } catch {
    return null;
  }
}
