import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { readAuthorization } from "./configuration.ts";
import { SlipwayError } from "./errors.ts";
import { ownIdentity } from "./own-identity.ts";
import { replySchemas } from "./replies.ts";
import { readSavedLogins, savedLoginsFile } from "./saved-logins.ts";
import {
  connect,
  type Login,
  type MadeArchive,
  type PackingProgress,
  type Platform,
  type SlipwayClient,
  type SlipwayOptions,
} from "./slipway.ts";
import { type ArchiveSource, uploadArchive } from "./upload-archive.ts";

export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  DeploymentError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServiceError,
  SlipwayError,
} from "./errors.ts";
export { replySchemas } from "./replies.ts";
export type * from "./slipway.ts";
export { isFinished } from "./wait-for-build.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const noService =
  "No Slipway service is configured. Pass { baseUrl, token } or { baseUrl, accessKey, secretKey }, set SLIPWAY_URL, or run: slipway login";
const noCredential =
  "No credential is configured. Pass a token or a key, set SERVICE_ACCESS_KEY and SERVICE_SECRET_KEY, or run: slipway login";

/** The key in the environment: an app's own, then the command line's. */
function environmentKey(environment: Environment): string | undefined {
  const { SERVICE_ACCESS_KEY, SERVICE_SECRET_KEY, SLIPWAY_ACCESS_KEY, SLIPWAY_SECRET_KEY, SLIPWAY_TOKEN } = environment;
  if (SERVICE_ACCESS_KEY && SERVICE_SECRET_KEY) {
    return readAuthorization({ accessKey: SERVICE_ACCESS_KEY, secretKey: SERVICE_SECRET_KEY });
  }
  if (SLIPWAY_ACCESS_KEY && SLIPWAY_SECRET_KEY) {
    return readAuthorization({ accessKey: SLIPWAY_ACCESS_KEY, secretKey: SLIPWAY_SECRET_KEY });
  }
  return SLIPWAY_TOKEN ? readAuthorization({ token: SLIPWAY_TOKEN }) : undefined;
}

const isDeployed = (environment: Environment) =>
  Boolean(environment.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI || environment.AWS_CONTAINER_CREDENTIALS_FULL_URI);

function savedLogin(environment: Environment, profile: string | undefined): Login | undefined {
  const { current, profiles } = readSavedLogins(savedLoginsFile(environment));
  const name = profile ?? current;
  const saved = name === null ? undefined : profiles[name];
  if (saved === undefined) {
    if (profile === undefined) return undefined;
    throw new TypeError(`There is no saved login ${profile}. Run: slipway login --profile ${profile}`);
  }
  const authorization = readAuthorization({ token: saved.token });
  return { baseUrl: saved.baseUrl, authorize: async () => authorization };
}

/**
 * Finds the service and the credential in this order: a named profile, the identity of an app that Slipway deployed, the
 * keys in the environment, the login that the command line saved.
 */
function loginFrom(environment: NodeJS.ProcessEnv, given: string | undefined, profile: string | undefined): Login {
  const baseUrl = given ?? (environment.SLIPWAY_URL || undefined);
  const saved = () => savedLogin(environment, profile);
  if (profile === undefined && baseUrl !== undefined) {
    if (isDeployed(environment)) return { baseUrl, authorize: ownIdentity(baseUrl, environment) };
    const authorization = environmentKey(environment);
    if (authorization !== undefined) return { baseUrl, authorize: async () => authorization };
  }
  const login = saved();
  if (login === undefined) throw new TypeError(baseUrl === undefined ? noService : noCredential);
  // A saved token must not be sent to another service.
  if (given !== undefined && given.replace(/\/+$/, "") !== login.baseUrl.replace(/\/+$/, ""))
    throw new TypeError(noCredential);
  return login;
}

/** Packs a path that is a folder. The packing is loaded here, because most apps never deploy. */
async function packPath(
  source: ArchiveSource,
  options: { signal?: AbortSignal | undefined; onProgress?: ((progress: PackingProgress) => void) | undefined },
): Promise<MadeArchive<ArchiveSource> | undefined> {
  if (typeof source !== "string") return undefined;
  const found = await stat(source).catch(() => undefined);
  if (found === undefined)
    throw new SlipwayError("folder_refused", `There is no folder or zip ${source}. Check the path.`);
  if (!found.isDirectory()) return undefined;
  const [{ packFolder }, { selectFiles }] = await Promise.all([
    import("./folder/pack.ts"),
    import("./folder/select-files.ts"),
  ]);
  const archive = await packFolder(selectFiles(resolve(source)), options);
  return { source: archive.path, release: () => archive[Symbol.dispose]() };
}

const nodePlatform: Platform<ArchiveSource> = {
  login: (baseUrl, profile) => loginFrom(process.env, baseUrl, profile),
  baseUrl: () => {
    const url = process.env.SLIPWAY_URL || savedLogin(process.env, undefined)?.baseUrl;
    if (!url) throw new TypeError(noService);
    return url;
  },
  pack: packPath,
  put: uploadArchive,
};

export interface Slipway extends SlipwayClient<ArchiveSource> {}

/**
 * A client of the service. Without arguments it finds its credential itself: in an app that Slipway deployed, in the
 * environment, or in the command line's saved login. Explicit options win.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the methods are those of the route table, assigned by the constructor.
export class Slipway {
  constructor(options: SlipwayOptions = {}) {
    Object.assign(this, connect(nodePlatform, { replies: replySchemas, ...options }));
  }
}
