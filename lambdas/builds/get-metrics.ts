import { getMetrics } from "../../api/app-output.ts";
import { runOptions } from "../../api/stored-settings.ts";
import { buildOf } from "../aws/app-names.ts";
import { endpoint } from "../http/endpoint.ts";
import { metricPoints, metricRange } from "./model/metrics.ts";
import { Build } from "./model/rows.ts";

export const handler = endpoint(getMetrics, async ({ params, query, access, now }, { table, metrics }) => {
  const { projectId } = params;
  await access.read();
  const range = metricRange(query.since === undefined ? undefined : new Date(query.since), now);
  const app = await metrics.find(projectId);
  const reply = { from: range.from.toISOString(), stepSeconds: range.stepSeconds };
  if (!app) return { ...reply, points: metricPoints(range, () => ({}), 0) };
  const buildId = app.taskDefinition === undefined ? null : buildOf(app.taskDefinition);
  const [measured, { build }] = await Promise.all([
    metrics.measured(app, range, now),
    table.read({ build: buildId === null ? undefined : Build.at({ projectId, id: buildId }) }),
  ]);
  const { memory } = runOptions(build?.settings);
  return { ...reply, points: metricPoints(range, (at) => measured.get(at.getTime()) ?? {}, memory) };
});
