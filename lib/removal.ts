import { RemovalPolicy } from "aws-cdk-lib";
import type { Settings } from "./settings.ts";

/** What happens to resources with data when CloudFormation would delete them. */
export interface Removal {
  /** The table, the buckets and their key. */
  data: RemovalPolicy;
  /** The database. Its network cannot be deleted while the cluster exists, so a snapshot is kept instead. */
  database: RemovalPolicy;
  /** The access logs of the buckets; undefined when none are written. */
  accessLogs: RemovalPolicy | undefined;
  /** Deletion protection of the table. */
  dataLocked: boolean;
  /** Deletion protection of the database and the gateway. */
  stackLocked: boolean;
}

/** Keeps a resource, except when the deployment that creates it is rolled back, so that the next one can create it again. */
const keep = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
/** S3 delivers access logs late, so this bucket may not be empty when a first deployment is rolled back. */
const keepLogs = RemovalPolicy.RETAIN;

const removals: Record<Settings["removal"], Removal> = {
  never: { data: keep, database: keep, accessLogs: keepLogs, dataLocked: true, stackLocked: true },
  // Deletion protection would make the rollback of a failed first deployment fail.
  "first-deploy": { data: keep, database: keep, accessLogs: keepLogs, dataLocked: false, stackLocked: false },
  "keep-data": {
    data: keep,
    database: RemovalPolicy.SNAPSHOT,
    accessLogs: keepLogs,
    dataLocked: true,
    stackLocked: false,
  },
  // Access logging is turned off before the bucket is emptied: logs that S3 delivers later would prevent its deletion.
  everything: {
    data: RemovalPolicy.DESTROY,
    database: RemovalPolicy.DESTROY,
    accessLogs: undefined,
    dataLocked: false,
    stackLocked: false,
  },
};

/** The removal policies of a `-c removal=` value. */
export function removalOf({ removal }: Settings): Removal {
  return removals[removal];
}
