import type { Apps } from "./apps.ts";
import type { Data } from "./data.ts";
import type { Database } from "./database.ts";
import type { ImageBuild } from "./image-build.ts";
import type { Network } from "./network.ts";
import type { Signers } from "./signers.ts";

/** What functions can be allowed to touch; a capability picks from it. */
export interface Resources {
  data: Data;
  signers: Signers;
  network: Network;
  apps: Apps;
  imageBuild: ImageBuild;
  database: Database | undefined;
  /** Built from the machine's name: its definition names functions that name it. */
  stateMachine: { arn: string; name: string; executionArns: string };
  /** The API's own host name, which a proof of identity is bound to. */
  serviceHost: string;
}
