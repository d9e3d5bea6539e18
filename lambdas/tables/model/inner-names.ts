/**
 * Names of what belongs to a database. User names never contain a `$`. A function whose parameters or rights change
 * gets a new number, so that a database of an earlier version is found to lack it, and is prepared again.
 */
export const innerNames = {
  catalog: "$tables",
  // Kept from an earlier version: the table of idempotency records.
  idempotency: "$claims",
  idempotencyConstraint: "$claims_hash",
  query: "$query_1",
  change: "$change_2",
  rowTriggerFunction: "$row_1",
  rowTrigger: "$row",
  jsonFits: "$json_fits_1",
  floatFits: "$float_fits_2",
} as const;

/** SQLSTATEs of our own, in a class that PostgreSQL does not use. */
export const ownStates = {
  valueInTheWay: "SW001",
  dryRun: "SW002",
  rowTooLarge: "SW003",
  tooLate: "SW004",
} as const;

/** The setting in which the functions find when the running statement has to be done. */
export const untilSetting = "slipway.until";
