import { getMetrics } from "../../api/app-output.ts";
import { runOptions } from "../../api/stored-settings.ts";
import { buildOf } from "../aws/app-names.ts";
import { endpoint } from "../http/endpoint.ts";
import { metricPoints, metricRange, withRestarts } from "./model/metrics.ts";
import { Build } from "./model/rows.ts";

export const handler = endpoint(getMetrics, async ({ params, query, access, now }, { table, metrics }) => {
  const { projectId } = params;
  await access.read();
  const range = metricRange(query.since === undefined ? undefined : new Date(query.since), now);
  const app = await metrics.find(projectId);
  const reply = { from: range.from.toISOString(), stepSeconds: range.stepSeconds };
  if (!app) return { ...reply, points: metricPoints(range, () => ({}), 0) };
  const live = app.taskDefinition === undefined ? null : buildOf(app.taskDefinition);
  const [measured, exits] = await Promise.all([metrics.measured(app, range), metrics.exits(app)]);
  const buildIds = new Set([live, ...exits.map(({ buildId }) => buildId)]);
  const places = [...buildIds].flatMap((id) => (id === null ? [] : [[id, Build.at({ projectId, id })] as const]));
  const builds = await table.read(Object.fromEntries(places));
  const hasServed = (id: string | null) => id !== null && (id === live || builds[id]?.status === "ready");
  // An instance of a deployment that failed was not replaced: its end is no restart of the app.
  const ended = exits.filter(({ buildId }) => hasServed(buildId)).map(({ at }) => at);
  const steps = withRestarts(measured, ended, range, now);
  const { memory } = runOptions(live === null ? undefined : builds[live]?.settings);
  return { ...reply, points: metricPoints(range, (at) => steps.get(at.getTime()) ?? {}, memory) };
});
