import { RemovalPolicy } from "aws-cdk-lib";
import type { Settings } from "./settings.ts";

/** What happens to resources with data when CloudFormation would delete them. */
export interface Removal {
  /** The table, the buckets and their key. */
  data: RemovalPolicy;
  /** The database is in our network, which cannot be deleted while the cluster is there: a snapshot is kept instead. */
  database: RemovalPolicy;
  /** The access logs of the buckets; undefined when none are written. */
  accessLogs: RemovalPolicy | undefined;
  /** Whether the table refuses to be deleted. */
  dataLocked: boolean;
  /** Whether the database and the gateway refuse to be deleted. */
  stackLocked: boolean;
}

/** Keeps a resource, except when the very deployment that creates it is rolled back: a second one then starts clean. */
const keep = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
/** S3 writes access logs late, so the bucket may not be empty when a first deployment is rolled back. */
const keepLogs = RemovalPolicy.RETAIN;

const removals: Record<Settings["removal"], Removal> = {
  never: { data: keep, database: keep, accessLogs: keepLogs, dataLocked: true, stackLocked: true },
  // A resource that refuses to be deleted would also refuse the rollback of a first deployment that fails.
  "first-deploy": { data: keep, database: keep, accessLogs: keepLogs, dataLocked: false, stackLocked: false },
  "keep-data": {
    data: keep,
    database: RemovalPolicy.SNAPSHOT,
    accessLogs: keepLogs,
    dataLocked: true,
    stackLocked: false,
  },
  // Access logs end before their bucket is emptied: what S3 delivers later would keep it from being deleted.
  everything: {
    data: RemovalPolicy.DESTROY,
    database: RemovalPolicy.DESTROY,
    accessLogs: undefined,
    dataLocked: false,
    stackLocked: false,
  },
};

/** The protections under a `-c removal=` value. */
export function removalOf({ removal }: Settings): Removal {
  return removals[removal];
}
