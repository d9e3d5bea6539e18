import type middy from "@middy/core";
import type { Context } from "aws-lambda";
import type { Capability } from "../../api/capabilities.ts";
import { capabilityEnvironment, type EnvironmentName } from "../../api/environment.ts";
import type { AppExits } from "../aws/app-exits.ts";
import type { AppMetrics } from "../aws/app-metrics.ts";
import type { AppOutput } from "../aws/app-output.ts";
import type { AppRemover } from "../aws/app-removal.ts";
import type { AppRunner } from "../aws/app-runner.ts";
import type { AppDeployer, AppReader, AppSwitch, TaskIdentifier } from "../aws/apps.ts";
import type { ArchiveRemover } from "../aws/archive-removal.ts";
import type { ArchiveUploads } from "../aws/archive-uploads.ts";
import type { ArchiveCopier, ArchiveReader } from "../aws/archives.ts";
import type { Artifacts } from "../aws/artifacts.ts";
import type { BuildValues } from "../aws/build-values.ts";
import type { DatabaseRunner } from "../aws/databases.ts";
import type { DeploymentResumer, DeploymentStarter } from "../aws/deployments.ts";
import type { FileAddresses } from "../aws/file-addresses.ts";
import type { FileRemover, StoredFiles } from "../aws/files.ts";
import type { IdentityProver } from "../aws/identity.ts";
import type { BuildAccessGranter } from "../aws/image-builds.ts";
import type { ImageRemover } from "../aws/image-removal.ts";
import type { ImageRetention } from "../aws/image-retention.ts";
import type { LogReader } from "../aws/logs.ts";
import type { OutputRemover } from "../aws/output-removal.ts";
import type { ReleaseStopper } from "../aws/release-tasks.ts";
import type { DeploymentStopper, RemovalStarter } from "../aws/removals.ts";
import type { Rollouts } from "../aws/rollouts.ts";
import { serviceUrl } from "../aws/service-url.ts";
import type { TaskDefinitionRemover } from "../aws/task-definition-removal.ts";
import type { TableConnection } from "../table/client.ts";
import type { TableReader } from "../table/reader.ts";
import type { TableScanner } from "../table/scanner.ts";
import type { RowUpdater } from "../table/updater.ts";
import type { TableWriter } from "../table/writer.ts";

export interface CustomDomains {
  /** Whether requests to a custom domain reach its app; on AWS they do not yet. */
  routed: boolean;
}

export interface ConsoleAddress {
  /** Scheme, host and port. */
  origin: string;
  /** The console's address, without a slash at its end. */
  address: string;
}

/** The tools that each capability gives to a handler. */
interface ToolsOf {
  "table:read": { table: TableReader };
  "table:write": { table: TableWriter };
  "table:scan": { scanner: TableScanner };
  "keys:record-use": { keyUses: RowUpdater };
  "events:record": { events: RowUpdater };
  "live-build:cache": { liveCache: RowUpdater };
  "files:follow": { entries: RowUpdater };
  "archives:upload": { uploads: ArchiveUploads };
  "archives:read": { archives: ArchiveReader };
  "archives:copy": { copies: ArchiveCopier };
  "artifacts:write": { artifacts: Artifacts };
  "deployments:start": { deployments: DeploymentStarter };
  "deployments:stop": { executions: DeploymentStopper };
  "removals:start": { removals: RemovalStarter };
  "archives:remove": { archiveRemover: ArchiveRemover };
  "images:remove": { imageRemover: ImageRemover };
  "output:remove": { outputRemover: OutputRemover };
  "apps:remove": { appRemover: AppRemover };
  "task-definitions:remove": { definitionRemover: TaskDefinitionRemover };
  "deployments:resume": { waiting: DeploymentResumer };
  "apps:read": { apps: AppReader };
  "apps:identify": { tasks: TaskIdentifier };
  "apps:watch": { rollouts: Rollouts };
  "apps:deploy": { deployer: AppDeployer };
  "apps:exits": { exits: AppExits };
  "apps:run": { runner: AppRunner };
  "releases:stop": { releases: ReleaseStopper };
  "build-values:read": { values: BuildValues };
  "apps:switch": { traffic: AppSwitch };
  "logs:read": { logs: LogReader };
  "app-output:read": { output: AppOutput };
  "app-metrics:read": { metrics: AppMetrics };
  "identity:prove": { identity: IdentityProver };
  "console-sessions:renew": { consoleSessions: RowUpdater };
  "service:call": { service: { url: string } };
  "console:locate": { console: ConsoleAddress };
  "uploads:locate": { uploadOrigins: readonly string[] };
  "domains:route": { customDomains: CustomDomains };
  "files:sign": { addresses: FileAddresses };
  "files:look": { files: StoredFiles };
  "files:remove": { fileRemover: FileRemover };
  "databases:run": { databases: DatabaseRunner };
  "image-builds:grant": { imageBuilds: BuildAccessGranter };
  "images:expire": { images: ImageRetention };
}

type Intersection<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never;

/** Exactly the tools of the named capabilities: touching anything undeclared does not compile. */
export type Tools<C extends Capability> = Intersection<ToolsOf[C]>;

type Environment = Record<EnvironmentName, string>;

/** The table's client, made on first use and shared by all capabilities of one Lambda. */
export class TableClient {
  #client: Promise<TableConnection> | undefined;
  get(): Promise<TableConnection> {
    this.#client ??= import("../table/client.ts").then(({ documentClient }) => documentClient());
    return this.#client;
  }
}

type Loader<C extends Capability> = (environment: Environment, table: TableClient) => Promise<ToolsOf[C]>;

const updater = async (e: Environment, table: TableClient) =>
  (await import("../table/updater.ts")).rowUpdater(await table.get(), e.TABLE_NAME);

/** Each capability's module is loaded only where it is named, so that a Lambda starts without clients it never calls. */
const loaders: { [C in Capability]: Loader<C> } = {
  "table:read": async (e, table) => ({
    table: (await import("../table/reader.ts")).tableReader(await table.get(), e.TABLE_NAME),
  }),
  "table:write": async (e, table) => ({
    table: (await import("../table/writer.ts")).tableWriter(await table.get(), e.TABLE_NAME),
  }),
  "table:scan": async (e, table) => ({
    scanner: (await import("../table/scanner.ts")).tableScanner(await table.get(), e.TABLE_NAME),
  }),
  "keys:record-use": async (e, table) => ({ keyUses: await updater(e, table) }),
  "events:record": async (e, table) => ({ events: await updater(e, table) }),
  "live-build:cache": async (e, table) => ({ liveCache: await updater(e, table) }),
  "files:follow": async (e, table) => ({ entries: await updater(e, table) }),
  "archives:upload": async (e) => ({ uploads: (await import("../aws/archive-uploads.ts")).archiveUploads(e) }),
  "archives:read": async (e) => ({ archives: (await import("../aws/archives.ts")).archiveReader(e) }),
  "archives:copy": async (e) => ({ copies: (await import("../aws/archives.ts")).archiveCopier(e) }),
  "artifacts:write": async (e) => ({ artifacts: (await import("../aws/artifacts.ts")).artifacts(e) }),
  "deployments:start": async (e) => ({ deployments: (await import("../aws/deployments.ts")).deploymentStarter(e) }),
  "deployments:stop": async (e) => ({ executions: (await import("../aws/removals.ts")).deploymentStopper(e) }),
  "removals:start": async (e) => ({ removals: (await import("../aws/removals.ts")).removalStarter(e) }),
  "archives:remove": async (e) => ({
    archiveRemover: (await import("../aws/archive-removal.ts")).archiveRemover(e),
  }),
  "images:remove": async (e) => ({ imageRemover: (await import("../aws/image-removal.ts")).imageRemover(e) }),
  "output:remove": async (e) => ({ outputRemover: (await import("../aws/output-removal.ts")).outputRemover(e) }),
  "apps:remove": async (e) => ({ appRemover: (await import("../aws/app-removal.ts")).appRemover(e) }),
  "task-definitions:remove": async () => ({
    definitionRemover: (await import("../aws/task-definition-removal.ts")).taskDefinitionRemover(),
  }),
  "deployments:resume": async () => ({ waiting: (await import("../aws/deployments.ts")).deploymentResumer() }),
  "apps:read": async (e) => ({ apps: (await import("../aws/apps.ts")).appReader(e) }),
  "apps:identify": async (e) => ({ tasks: (await import("../aws/apps.ts")).taskIdentifier(e) }),
  "apps:watch": async (e) => ({ rollouts: (await import("../aws/rollouts.ts")).rolloutReader(e) }),
  "apps:deploy": async (e) => ({ deployer: (await import("../aws/apps.ts")).appDeployer(e) }),
  "apps:exits": async (e) => ({ exits: (await import("../aws/app-exits.ts")).appExits(e) }),
  "apps:run": async (e) => ({ runner: (await import("../aws/app-runner.ts")).appRunner(e) }),
  "releases:stop": async (e) => ({ releases: (await import("../aws/release-tasks.ts")).releaseStopper(e) }),
  "build-values:read": async (e) => ({ values: (await import("../aws/build-values.ts")).buildValues(e) }),
  "apps:switch": async (e) => ({ traffic: (await import("../aws/apps.ts")).appSwitch(e) }),
  "logs:read": async (e) => ({ logs: (await import("../aws/logs.ts")).logReader(e) }),
  "app-output:read": async (e) => ({ output: (await import("../aws/app-output.ts")).appOutput(e) }),
  "app-metrics:read": async (e) => ({ metrics: (await import("../aws/app-metrics.ts")).appMetrics(e) }),
  "identity:prove": async (e) => ({ identity: (await import("../aws/identity.ts")).identityProver(e) }),
  "uploads:locate": async (e) => ({ uploadOrigins: (await import("../aws/bucket-address.ts")).uploadOrigins(e) }),
  "domains:route": async (e) => ({ customDomains: { routed: e.CUSTOM_DOMAINS === "routed" } }),
  "console-sessions:renew": async (e, table) => ({ consoleSessions: await updater(e, table) }),
  "service:call": async (e) => ({ service: { url: serviceUrl(e.SERVICE_HOST) } }),
  "console:locate": async (e) => ({
    console: { origin: e.CONSOLE_ORIGIN, address: `${e.CONSOLE_ORIGIN}/console` },
  }),
  "files:sign": async (e) => ({ addresses: (await import("../aws/file-addresses.ts")).fileAddresses(e) }),
  "files:look": async (e) => ({ files: (await import("../aws/files.ts")).storedFiles(e) }),
  "files:remove": async (e) => ({ fileRemover: (await import("../aws/files.ts")).fileRemover(e) }),
  "databases:run": async (e) => ({ databases: (await import("../aws/databases.ts")).databaseRunner(e) }),
  "images:expire": async (e) => ({ images: (await import("../aws/image-retention.ts")).imageRetention(e) }),
  "image-builds:grant": async (e) => ({ imageBuilds: (await import("../aws/image-builds.ts")).buildAccessGranter(e) }),
};

/** The capabilities whose module can be loaded by the first call of their tool. */
export type LazyCapability = "apps:exits" | "apps:read" | "build-values:read" | "logs:read";

/** Tools whose module is loaded by their first call. */
const lazyTools: { [C in LazyCapability]: (load: () => Promise<ToolsOf[C]>) => ToolsOf[C] } = {
  "apps:exits": (load) => ({ exits: { of: async (...given) => (await load()).exits.of(...given) } }),
  "apps:read": (load) => ({
    apps: {
      live: async (...given) => (await load()).apps.live(...given),
      serving: async (...given) => (await load()).apps.serving(...given),
      isDraining: async (...given) => (await load()).apps.isDraining(...given),
      address: async (...given) => (await load()).apps.address(...given),
    },
  }),
  "build-values:read": (load) => ({ values: { read: async (...given) => (await load()).values.read(...given) } }),
  "logs:read": (load) => ({
    logs: {
      tail: async (...given) => (await load()).logs.tail(...given),
      page: async (...given) => (await load()).logs.page(...given),
    },
  }),
};

/** Loads at the first call; after a failure the next call loads again. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

const deferTool = <C extends LazyCapability>(capability: C, environment: Environment, table: TableClient) =>
  lazyTools[capability](once(() => loaders[capability](environment, table)));

function environmentOf(uses: readonly Capability[]): Environment {
  const environment: Record<string, string> = {};
  for (const name of new Set(uses.flatMap((capability) => capabilityEnvironment[capability]))) {
    const value = process.env[name];
    if (value === undefined) throw new Error(`The environment variable ${name} is missing`);
    environment[name] = value;
  }
  return environment as Environment;
}

async function loadTools<C extends Capability>(
  uses: readonly C[],
  client: TableClient,
  seldom: readonly LazyCapability[],
): Promise<Tools<C>> {
  const environment = environmentOf(uses);
  const isSeldom = (capability: Capability): capability is LazyCapability => seldom.some((one) => one === capability);
  const parts = await Promise.all(
    uses.map((capability) =>
      isSeldom(capability) ? deferTool(capability, environment, client) : loaders[capability](environment, client),
    ),
  );
  // Reading and writing are two capabilities of one tool, `table`.
  const tables = parts.flatMap((part) => ("table" in part ? [part.table] : []));
  return Object.assign({}, ...parts, tables.length > 0 && { table: Object.assign({}, ...tables) });
}

/**
 * Starts to load the tools of these capabilities, once per Lambda instance, and returns a function that returns them. After a
 * failure the next call loads them again, so that later events can succeed. Those that are `seldom` used are loaded by
 * their first call, because every module that is loaded delays a cold start.
 */
export function prepareTools<C extends Capability>(
  uses: readonly C[],
  client: TableClient = new TableClient(),
  seldom: readonly LazyCapability[] = [],
): () => Promise<Tools<C>> {
  let loading = loadTools(uses, client, seldom);
  loading.catch(() => undefined);
  return () =>
    loading.catch(() => {
      loading = loadTools(uses, client, seldom);
      return loading;
    });
}

export type ToolsContext<ToolSet> = Context & { tools: ToolSet };

/** Passes the tools to the handler. */
export function withTools<ToolSet>(
  ready: () => Promise<ToolSet>,
): middy.MiddlewareObj<unknown, unknown, Error, ToolsContext<ToolSet>> {
  return {
    before: async ({ context }) => {
      context.tools = await ready();
    },
  };
}
