import type { Apps } from "./apps.ts";
import type { BaseImages } from "./base-images.ts";
import type { Data } from "./data.ts";
import type { Database } from "./database.ts";
import type { ImageBuild } from "./image-build.ts";
import type { Network } from "./network.ts";
import type { Signers } from "./signers.ts";

/** The resources that capabilities allow functions to use. */
export interface Resources {
  data: Data;
  signers: Signers;
  network: Network;
  apps: Apps;
  imageBuild: ImageBuild;
  baseImages: BaseImages;
  database: Database | undefined;
  /** The ARN is built from the name, because the definition refers to functions that refer to the state machine. */
  stateMachine: { arn: string; name: string; executionArns: string };
  /** Removes what belonged to deleted projects and databases. */
  removalMachine: { arn: string; name: string; executionArns: string };
  /** The host name of the API; identity proofs are valid only for it. */
  serviceHost: string;
}
