/** The values of one metric in one period. Percentiles come from a histogram whose buckets are 4 % wide. */
export interface Statistics {
  count: number;
  sum: number;
  min: number;
  max: number;
  /** How many values are in each bucket, by its number. */
  buckets: Map<number, number>;
}

const growth = Math.log(1.04);
/** Values of zero and below are in one bucket before all others. */
const zeroBucket = -1_000_000;

const bucketOf = (value: number) => (value > 0 ? Math.ceil(Math.log(value) / growth) : zeroBucket);
const middleOf = (bucket: number) => (bucket === zeroBucket ? 0 : Math.exp((bucket - 0.5) * growth));

export function noStatistics(): Statistics {
  return { count: 0, sum: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, buckets: new Map() };
}

export function addValue(statistics: Statistics, value: number): void {
  statistics.count += 1;
  statistics.sum += value;
  statistics.min = Math.min(statistics.min, value);
  statistics.max = Math.max(statistics.max, value);
  const bucket = bucketOf(value);
  statistics.buckets.set(bucket, (statistics.buckets.get(bucket) ?? 0) + 1);
}

/** Adds the values of `other`. */
export function addStatistics(statistics: Statistics, other: Statistics): void {
  statistics.count += other.count;
  statistics.sum += other.sum;
  statistics.min = Math.min(statistics.min, other.min);
  statistics.max = Math.max(statistics.max, other.max);
  for (const [bucket, count] of other.buckets)
    statistics.buckets.set(bucket, (statistics.buckets.get(bucket) ?? 0) + count);
}

/** The value below which `percent` of the values are; within 2 % of the true one. */
export function percentile({ count, min, max, buckets }: Statistics, percent: number): number {
  let left = (count * percent) / 100;
  for (const bucket of [...buckets.keys()].sort((one, other) => one - other)) {
    left -= buckets.get(bucket) ?? 0;
    if (left <= 0) return Math.min(Math.max(middleOf(bucket), min), max);
  }
  return max;
}
