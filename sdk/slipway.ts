import type { SingleBuildReply } from "../api/builds.ts";
import type { FileReply } from "../api/storage.ts";
import type { Client, ItemOf, ListName } from "./client-types.ts";
import { readAuthorization, readBaseUrl } from "./configuration.ts";
import { type Download, download } from "./download.ts";
import { DeploymentError } from "./errors.ts";
import { iterate } from "./iterate.ts";
import { type Sleep, sleepFor } from "./retry.ts";
import { routeMethods } from "./route-methods.ts";
import type { CallOptions, Connection, ReplySchemas } from "./send.ts";
import { type WaitOptions, waitForBuild } from "./wait-for-build.ts";

export interface TransferProgress {
  sentBytes: number;
  totalBytes: number;
}

/** How far a folder is packed. */
export interface PackingProgress {
  readBytes: number;
  totalBytes: number;
}

interface PackOptions {
  onProgress?: ((progress: PackingProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** An archive that was made of a folder; `release` deletes it. */
export interface MadeArchive<Source> {
  source: Source;
  release(): void;
}

export interface PutOptions {
  contentType: string;
  onProgress?: ((progress: TransferProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** How calls are authorized when no option says it. */
export interface Login {
  baseUrl: string;
  authorize(): Promise<string>;
}

/** What differs between Node.js and browsers. `Source` is what can be uploaded there. */
export interface Platform<Source> {
  /** The service and its credential from the surroundings; throws if there are none. */
  login(baseUrl: string | undefined, profile: string | undefined): Login;
  /** The service when only the credential is given; throws if it is unknown. */
  baseUrl(): string;
  /** Makes the archive of a source that is a folder; undefined for any other source. Throws if it cannot be deployed. */
  pack?(source: Source, options: PackOptions): Promise<MadeArchive<Source> | undefined>;
  /** Sends bytes to a presigned address, without any credential of the service. */
  put(url: string, source: Source, options: PutOptions): Promise<void>;
}

/** Explicit options win over the surroundings. */
export interface SlipwayOptions {
  /** The service's address, such as `https://slipway.example.com`. */
  baseUrl?: string;
  accessKey?: string;
  secretKey?: string;
  /** A personal access token or a session's token, instead of a key; a function is asked before each call. */
  token?: string | (() => string | Promise<string>);
  /** Which saved login of the command line to use. */
  profile?: string;
  /** Seconds that one attempt may take; 30 when not given. */
  timeoutSeconds?: number;
  /** The total number of attempts of a repeatable call; 4 when not given. */
  attemptsMax?: number;
  /** Checks each reply against its schema: `replySchemas`. */
  replies?: ReplySchemas;
  sleep?: Sleep;
}

interface ProjectIds {
  orgId: string;
  projectId: string;
}

export type DeployProgress =
  | ({ stage: "packing" } & PackingProgress)
  | ({ stage: "uploading" } & TransferProgress)
  | { stage: SingleBuildReply["status"]; build: SingleBuildReply };

export interface DeployOptions extends ProjectIds {
  title?: string;
  description?: string;
  /** Called while a folder is packed, while the archive is sent, and with each new status. */
  onProgress?: (progress: DeployProgress) => void;
  /** Stops the deployment: the build is canceled, and the call rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface Deployment {
  build: SingleBuildReply;
  endpoints: string[];
}

interface FileIds {
  orgId: string;
  storageId: string;
}

export interface UploadFileOptions extends FileIds {
  name: string;
  mime: string;
  onProgress?: (progress: TransferProgress) => void;
  signal?: AbortSignal;
}

export interface DownloadOptions extends FileIds {
  fileId: string;
  signal?: AbortSignal;
}

/** What is more than one route. Calls reject with SlipwayError, or with the signal's reason. */
export interface Compositions<Source> {
  /** Uploads a zip, or in Node.js a folder, follows its build and returns what serves; rejects with DeploymentError if the build fails. */
  deploy(source: Source, options: DeployOptions): Promise<Deployment>;
  /** Reads a build until it is finished, as often as the service asks for; a failed build is returned, not thrown. */
  waitForBuild(ids: ProjectIds & { buildId: string }, options?: WaitOptions): Promise<SingleBuildReply>;
  /** Every item of a list, page after page: `for await (const build of slipway.iterate("listBuilds", ids))`. */
  iterate<Name extends ListName>(
    name: Name,
    input?: Parameters<Client[Name]>[0],
    options?: CallOptions,
  ): AsyncGenerator<ItemOf<Name>, void, undefined>;
  /** Stores a file: prepares it, and sends its bytes. */
  uploadFile(source: Source, options: UploadFileOptions): Promise<FileReply>;
  /** A stored file as a stream. */
  downloadFile(options: DownloadOptions): Promise<Download & { file: FileReply }>;
}

/** A client of the service: one method per route, and the compositions. */
export type SlipwayClient<Source> = Client & Compositions<Source>;

function loginOf<Source>(platform: Platform<Source>, options: SlipwayOptions): Login {
  const { baseUrl, accessKey, secretKey, token, profile } = options;
  if (token === undefined && accessKey === undefined && secretKey === undefined)
    return platform.login(baseUrl, profile);
  const service = baseUrl ?? platform.baseUrl();
  if (typeof token === "function")
    return { baseUrl: service, authorize: async () => readAuthorization({ token: await token() }) };
  const authorization = readAuthorization(
    token === undefined ? { accessKey: accessKey ?? "", secretKey: secretKey ?? "" } : { token },
  );
  return { baseUrl: service, authorize: async () => authorization };
}

/** Makes a client on a platform. */
export function connect<Source>(platform: Platform<Source>, options: SlipwayOptions): SlipwayClient<Source> {
  const login = loginOf(platform, options);
  const connection: Connection = {
    baseUrl: readBaseUrl(login.baseUrl),
    authorize: login.authorize,
    timeoutSeconds: options.timeoutSeconds ?? 30,
    attemptsMax: options.attemptsMax ?? 4,
    sleep: options.sleep ?? sleepFor,
    replies: options.replies,
    makesKeys: true,
  };
  const client = routeMethods(connection);
  const compositions: Compositions<Source> = {
    deploy: (source, how) => deploy(client, platform, source, { sleep: connection.sleep, ...how }),
    waitForBuild: (ids, how) => waitForBuild(client, ids, { sleep: connection.sleep, ...how }),
    iterate: (name, input, how) => iterate(connection, name, { ...input }, how),
    uploadFile: (source, how) => uploadFile(client, platform, source, how),
    downloadFile: async ({ signal, ...ids }) => {
      const { file } = await client.getFile(ids, signal && { signal });
      const { url, ...rest } = file;
      return { file: rest, ...(await download(url, signal)) };
    },
  };
  return { ...client, ...compositions };
}

async function deploy<Source>(
  client: Client,
  platform: Platform<Source>,
  source: Source,
  how: DeployOptions & { sleep: Sleep },
): Promise<Deployment> {
  const { onProgress, signal } = how;
  signal?.throwIfAborted();
  // Before the build is created, which locks the project.
  const made = await platform.pack?.(source, {
    signal,
    onProgress: (progress) => onProgress?.({ stage: "packing", ...progress }),
  });
  try {
    return await deployArchive(client, platform, made?.source ?? source, how);
  } finally {
    made?.release();
  }
}

async function deployArchive<Source>(
  client: Client,
  platform: Platform<Source>,
  source: Source,
  { title, description, onProgress, signal, sleep, ...project }: DeployOptions & { sleep: Sleep },
): Promise<Deployment> {
  // Not interruptible: a build whose id is unknown could not be canceled, and would keep the project locked.
  const { build: created, url } = await client.createBuild({ ...project, title, description });
  const ids = { ...project, buildId: created.id };
  let sent = false;
  try {
    await platform.put(url, source, {
      contentType: "application/zip",
      signal,
      onProgress: (progress) => onProgress?.({ stage: "uploading", ...progress }),
    });
    sent = true;
    const onStatus = (build: SingleBuildReply) => onProgress?.({ stage: build.status, build });
    const build = await waitForBuild(client, ids, { onStatus, sleep, ...(signal && { signal }) });
    if (build.status !== "ready" || build.canceledAt !== null) throw failureOf(build);
    return { build, endpoints: (await client.listEndpoints(project)).endpoints };
  } catch (error) {
    // Without its archive the build would keep the project locked for an hour.
    if (!sent || signal?.aborted) await client.cancelBuild(ids).catch(() => undefined);
    throw error;
  }
}

function failureOf(build: SingleBuildReply): DeploymentError {
  if (build.canceledAt !== null)
    return new DeploymentError("canceled", `Build ${build.id} was canceled.`, { body: build });
  return new DeploymentError("build_failed", build.error ?? `Build ${build.id} failed.`, { body: build });
}

async function uploadFile<Source>(
  client: Client,
  platform: Platform<Source>,
  source: Source,
  { name, mime, onProgress, signal, ...ids }: UploadFileOptions,
): Promise<FileReply> {
  const call = signal && { signal };
  const { files } = await client.createFiles({ ...ids, files: [{ name, mime }] }, call);
  const [prepared] = files;
  if (prepared === undefined) throw new TypeError("The service prepared no file.");
  await platform.put(prepared.url, source, { contentType: mime, onProgress, signal });
  const { file } = await client.getFile({ ...ids, fileId: prepared.id }, call);
  const { url: _, ...stored } = file;
  return stored;
}
