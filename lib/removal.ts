import { RemovalPolicy } from "aws-cdk-lib";
import type { Settings } from "./settings.ts";

/** What CloudFormation does to what holds data when it would delete it. */
export interface Removal {
  /** The table, buckets, images and their key. */
  data: RemovalPolicy;
  /** The database sits in our network, which cannot go while the cluster stays: a snapshot is what is kept of it. */
  database: RemovalPolicy;
  /** Whether the table refuses to be deleted. */
  dataLocked: boolean;
  /** Whether the database and the gateway refuse to be deleted. */
  stackLocked: boolean;
}

const removals: Record<Settings["removal"], Removal> = {
  never: { data: RemovalPolicy.RETAIN, database: RemovalPolicy.RETAIN, dataLocked: true, stackLocked: true },
  "keep-data": { data: RemovalPolicy.RETAIN, database: RemovalPolicy.SNAPSHOT, dataLocked: true, stackLocked: false },
  everything: { data: RemovalPolicy.DESTROY, database: RemovalPolicy.DESTROY, dataLocked: false, stackLocked: false },
};

/** The protections under a `-c removal=` value. */
export function removalOf({ removal }: Settings): Removal {
  return removals[removal];
}
