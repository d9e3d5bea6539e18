import type { Capability } from "../../api/capabilities.ts";
import { capabilityEnvironment, type EnvironmentName } from "../../api/environment.ts";
import type { AppDeployer, AppReader, AppSwitch } from "../aws/apps.ts";
import type { ArchiveUploads } from "../aws/archive-uploads.ts";
import type { ArchiveCopier, ArchiveReader } from "../aws/archives.ts";
import type { Artifacts } from "../aws/artifacts.ts";
import type { DatabaseRunner } from "../aws/databases.ts";
import type { DeploymentResumer, DeploymentStarter } from "../aws/deployments.ts";
import type { FileAddresses } from "../aws/file-addresses.ts";
import type { StoredFiles } from "../aws/files.ts";
import type { IdentityProver } from "../aws/identity.ts";
import type { BuildAccessGranter } from "../aws/image-builds.ts";
import type { LogReader } from "../aws/logs.ts";
import type { TableReader, TableWriter } from "../table/table.ts";

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
  "image-builds:grant": { imageBuilds: BuildAccessGranter };
}

type Intersection<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never;

/** Exactly the tools of the named capabilities: touching anything undeclared does not compile. */
export type Tools<C extends Capability> = Intersection<ToolsOf[C]>;

type Environment = Record<EnvironmentName, string>;

/** Each capability's module is loaded only where it is named, so that a Lambda starts without clients it never calls. */
const loaders: { [C in Capability]: (environment: Environment) => Promise<ToolsOf[C]> } = {
  "table:read": async (e) => ({ table: (await import("../table/table.ts")).connectTable(e.TABLE_NAME) }),
  "table:write": async (e) => ({ table: (await import("../table/table.ts")).connectTable(e.TABLE_NAME) }),
  "archives:upload": async (e) => ({ uploads: (await import("../aws/archive-uploads.ts")).archiveUploads(e) }),
  "archives:read": async (e) => ({ archives: (await import("../aws/archives.ts")).archiveReader(e) }),
  "archives:copy": async (e) => ({ copies: (await import("../aws/archives.ts")).archiveCopier(e) }),
  "artifacts:write": async (e) => ({ artifacts: (await import("../aws/artifacts.ts")).artifacts(e) }),
  "deployments:start": async (e) => ({ deployments: (await import("../aws/deployments.ts")).deploymentStarter(e) }),
  "deployments:resume": async () => ({ waiting: (await import("../aws/deployments.ts")).deploymentResumer() }),
  "apps:read": async (e) => ({ apps: (await import("../aws/apps.ts")).appReader(e) }),
  "apps:deploy": async (e) => ({ deployer: (await import("../aws/apps.ts")).appDeployer(e) }),
  "apps:switch": async (e) => ({ traffic: (await import("../aws/apps.ts")).appSwitch(e) }),
  "logs:read": async (e) => ({ logs: (await import("../aws/logs.ts")).logReader(e) }),
  "identity:prove": async (e) => ({ identity: (await import("../aws/identity.ts")).identityProver(e) }),
  "files:sign": async (e) => ({ addresses: (await import("../aws/file-addresses.ts")).fileAddresses(e) }),
  "files:manage": async (e) => ({ files: (await import("../aws/files.ts")).storedFiles(e) }),
  "databases:run": async (e) => ({ databases: (await import("../aws/databases.ts")).databaseRunner(e) }),
  "image-builds:grant": async (e) => ({ imageBuilds: (await import("../aws/image-builds.ts")).buildAccessGranter(e) }),
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
