/** The AWS JSON protocols carry instants as seconds since the epoch; the records hold milliseconds. */
export function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
