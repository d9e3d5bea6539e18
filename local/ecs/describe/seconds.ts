/** Converts the milliseconds of a record to seconds since the epoch, the unit of the AWS JSON protocols. */
export function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
