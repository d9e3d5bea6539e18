import type { Capability } from "../../api/capabilities.ts";
import { capabilityEnvironment, type EnvironmentName } from "../../api/environment.ts";
import type { TableReader, TableWriter } from "../data/table.ts";
import type { AppDeployer, AppReader, AppSwitch } from "./tools/apps.ts";
import type { ArchiveUploads } from "./tools/archive-uploads.ts";
import type { ArchiveCopier, ArchiveReader } from "./tools/archives.ts";
import type { Artifacts } from "./tools/artifacts.ts";
import type { DatabaseRunner } from "./tools/databases.ts";
import type { DeploymentResumer, DeploymentStarter } from "./tools/deployments.ts";
import type { FileAddresses } from "./tools/file-addresses.ts";
import type { StoredFiles } from "./tools/files.ts";
import type { IdentityProver } from "./tools/identity.ts";
import type { ImageBuildEquipper } from "./tools/image-builds.ts";
import type { LogReader } from "./tools/logs.ts";

/** What each capability puts into a handler's hands. */
interface ToolsOf {
  "table:read": { table: TableReader };
  "table:write": { table: TableWriter };
  "archives:upload": { uploads: ArchiveUploads };
  "archives:read": { archives: ArchiveReader };
  "archives:copy": { copies: ArchiveCopier };
  "artifacts:write": { artifacts: Artifacts };
  "deployments:start": { deployments: DeploymentStarter };
  "deployments:resume": { waiting: DeploymentResumer };
  "apps:read": { apps: AppReader };
  "apps:deploy": { deployer: AppDeployer };
  "apps:switch": { traffic: AppSwitch };
  "logs:read": { logs: LogReader };
  "identity:prove": { identity: IdentityProver };
  "files:sign": { addresses: FileAddresses };
  "files:manage": { files: StoredFiles };
  "databases:run": { databases: DatabaseRunner };
  "image-builds:equip": { imageBuilds: ImageBuildEquipper };
}

type Intersection<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never;

/** Exactly the tools of the named capabilities: touching anything undeclared does not compile. */
export type Tools<C extends Capability> = Intersection<ToolsOf[C]>;

type Environment = Record<EnvironmentName, string>;

/** Each capability's module is loaded only where it is named, so that a Lambda starts without clients it never calls. */
const loaders: { [C in Capability]: (environment: Environment) => Promise<ToolsOf[C]> } = {
  "table:read": async (e) => ({ table: (await import("../data/table.ts")).connectTable(e.TABLE_NAME) }),
  "table:write": async (e) => ({ table: (await import("../data/table.ts")).connectTable(e.TABLE_NAME) }),
  "archives:upload": async (e) => ({ uploads: (await import("./tools/archive-uploads.ts")).archiveUploads(e) }),
  "archives:read": async (e) => ({ archives: (await import("./tools/archives.ts")).archiveReader(e) }),
  "archives:copy": async (e) => ({ copies: (await import("./tools/archives.ts")).archiveCopier(e) }),
  "artifacts:write": async (e) => ({ artifacts: (await import("./tools/artifacts.ts")).artifacts(e) }),
  "deployments:start": async (e) => ({ deployments: (await import("./tools/deployments.ts")).deploymentStarter(e) }),
  "deployments:resume": async () => ({ waiting: (await import("./tools/deployments.ts")).deploymentResumer() }),
  "apps:read": async (e) => ({ apps: (await import("./tools/apps.ts")).appReader(e) }),
  "apps:deploy": async (e) => ({ deployer: (await import("./tools/apps.ts")).appDeployer(e) }),
  "apps:switch": async (e) => ({ traffic: (await import("./tools/apps.ts")).appSwitch(e) }),
  "logs:read": async (e) => ({ logs: (await import("./tools/logs.ts")).logReader(e) }),
  "identity:prove": async (e) => ({ identity: (await import("./tools/identity.ts")).identityProver(e) }),
  "files:sign": async (e) => ({ addresses: (await import("./tools/file-addresses.ts")).fileAddresses(e) }),
  "files:manage": async (e) => ({ files: (await import("./tools/files.ts")).storedFiles(e) }),
  "databases:run": async (e) => ({ databases: (await import("./tools/databases.ts")).databaseRunner(e) }),
  "image-builds:equip": async (e) => ({ imageBuilds: (await import("./tools/image-builds.ts")).imageBuildEquipper(e) }),
};

function environmentOf(uses: readonly Capability[]): Environment {
  const environment: Record<string, string> = {};
  for (const name of new Set(uses.flatMap((capability) => capabilityEnvironment[capability]))) {
    const value = process.env[name];
    if (value === undefined) throw new Error(`The environment variable ${name} is missing`);
    environment[name] = value;
  }
  return environment as Environment;
}

async function loadTools<C extends Capability>(uses: readonly C[]): Promise<Tools<C>> {
  const environment = environmentOf(uses);
  const parts = await Promise.all(uses.map((capability) => loaders[capability](environment)));
  return Object.assign({}, ...parts);
}

/**
 * Begins to load the tools of these capabilities, once per Lambda instance, and says how to get them. A load that failed
 * is not remembered: the next caller tries again, or one event before everything stands would spoil all that follow.
 */
export function prepareTools<C extends Capability>(uses: readonly C[]): () => Promise<Tools<C>> {
  let loading = loadTools(uses);
  loading.catch(() => undefined);
  return () =>
    loading.catch(() => {
      loading = loadTools(uses);
      return loading;
    });
}
