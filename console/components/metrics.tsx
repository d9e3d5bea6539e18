import { useMemo, useState } from "preact/hooks";
import type { MetricPoint } from "../../api/app-output.ts";
import { client } from "../api.ts";
import type { ProjectIds } from "../builds.ts";
import { useLoad } from "../load.ts";
import { SelectField } from "./field.tsx";
import { Loading } from "./loading.tsx";
import { Plot } from "./plot.tsx";

const hours = [
  ["1", "Last hour"],
  ["6", "Last 6 hours"],
  ["24", "Last day"],
  ["168", "Last week"],
] as const;

const count = (value: number) => (value >= 1000 ? `${+(value / 1000).toFixed(1)}k` : String(+value.toFixed(1)));
const milliseconds = (value: number) => (value >= 1000 ? `${+(value / 1000).toFixed(1)} s` : `${Math.round(value)} ms`);
const mebibytes = (value: number) => `${Math.round(value)} MiB`;
const percent = (value: number) => `${Math.round(value)} %`;

function Plots({ points }: { points: readonly MetricPoint[] }) {
  const columns = useMemo(() => {
    const of = (name: Exclude<keyof MetricPoint, "at">) => points.map((point) => point[name]);
    return {
      times: points.map(({ at }) => Date.parse(at)),
      requests: [
        { name: "requests", values: of("requests") },
        { name: "errors", values: of("errors"), second: true },
      ],
      latency: [
        { name: "median", values: of("latencyMsP50") },
        { name: "95 %", values: of("latencyMsP95"), second: true },
      ],
      memory: [{ name: "used", values: of("memoryMiB") }],
      processor: [{ name: "used", values: of("cpuPercent") }],
    };
  }, [points]);
  const restarts = points.reduce((sum, point) => sum + (point.restarts ?? 0), 0);
  const { times, requests, latency, memory, processor } = columns;
  return (
    <>
      {restarts > 0 ? (
        <p class="note warn">
          In the last hour,{" "}
          {restarts === 1 ? "an instance ended by itself" : `${restarts} instances ended by themselves`}. The output
          below has their last lines.
        </p>
      ) : (
        <p class="muted">In the last hour no instance ended by itself.</p>
      )}
      <div class="plots">
        <Plot title="Requests" times={times} series={requests} format={count} />
        <Plot title="Latency" times={times} series={latency} format={milliseconds} />
        <Plot title="Memory" times={times} series={memory} format={mebibytes} />
        <Plot title="Processor" times={times} series={processor} format={percent} />
      </div>
    </>
  );
}

/** The app's metrics as small plots, refreshed every half minute. */
export function Metrics({ ids }: { ids: ProjectIds }) {
  const [span, setSpan] = useState("1");
  const metrics = useLoad(
    `metrics/${ids.projectId}/${span}`,
    (signal) => {
      const since = span === "1" ? undefined : new Date(Date.now() - Number(span) * 3_600_000).toISOString();
      return client.getMetrics({ ...ids, since }, { signal });
    },
    { every: () => 30 },
  );
  return (
    <section class="block-section" aria-label="Metrics">
      <div class="page-head">
        <h2>Metrics</h2>
        <SelectField label="Time" value={span} onInput={setSpan} options={hours} />
      </div>
      <Loading of={metrics} what="metrics">
        {({ points }) =>
          points.some((point) => Object.entries(point).some(([name, value]) => name !== "at" && value !== null)) ? (
            <Plots points={points} />
          ) : (
            <p class="muted">
              Nothing was measured in this time: metrics begin with the first minute in which the app serves.
            </p>
          )
        }
      </Loading>
    </section>
  );
}
