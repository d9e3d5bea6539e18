export interface Series {
  name: string;
  values: readonly (number | null)[];
  /** The second line of a plot has another color. */
  second?: boolean;
}

interface PlotProps {
  title: string;
  /** Milliseconds since 1970, one for each value. */
  times: readonly number[];
  series: readonly Series[];
  format: (value: number) => string;
}

const width = 300;
const height = 88;

/** "09:05", in the person's time zone. */
const clock = (ms: number) => new Date(ms).toTimeString().slice(0, 5);
const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null);

/** The line of a series, with gaps where values are missing. A single value becomes a short dash. */
function lineOf(values: readonly (number | null)[], times: readonly number[], max: number): string {
  const [first = 0, end = 0] = [times[0], times.at(-1)];
  const spanMs = Math.max(end - first, 1);
  let line = "";
  let isDown = false;
  for (const [index, value] of values.entries()) {
    if (value === null) {
      isDown = false;
      continue;
    }
    const x = (((times[index] ?? first) - first) / spanMs) * (width - 4) + 2;
    const y = height - 2 - (value / max) * (height - 4);
    line += isDown ? `L${x.toFixed(1)} ${y.toFixed(1)}` : `M${x.toFixed(1)} ${y.toFixed(1)}h1`;
    isDown = true;
  }
  return line;
}

/** A small plot over time. Its newest and highest values are texts as well, so that it can be read without the picture. */
export function Plot({ title, times, series, format }: PlotProps) {
  const highest = Math.max(0, ...series.flatMap(({ values }) => known(values)));
  const [first, end] = [times[0], times.at(-1)];
  return (
    <figure class="plot">
      <figcaption>
        <h3>{title}</h3>
        <span class="plot-value muted">
          {series.map(({ name, values, second }) => {
            const value = known(values).at(-1);
            return (
              <span key={name}>
                <span class={second ? "plot-key second" : "plot-key"} aria-hidden="true" />
                {name} {value === undefined ? "–" : format(value)}
              </span>
            );
          })}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="plot-grid" d={`M0 1H${width}M0 ${height / 2}H${width}M0 ${height - 1}H${width}`} />
        {series.map(({ name, values, second }) => (
          <path key={name} class={second ? "plot-line second" : "plot-line"} d={lineOf(values, times, highest || 1)} />
        ))}
      </svg>
      <p class="plot-ends muted">
        <span>{first !== undefined && clock(first)}</span>
        <span>highest {format(highest)}</span>
        <span>{end !== undefined && clock(end)}</span>
      </p>
    </figure>
  );
}
