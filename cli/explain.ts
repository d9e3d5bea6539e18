import type { Client } from "../sdk/client-types.ts";
import { SlipwayError } from "../sdk/errors.ts";

/** The ids in a call; each is optional because calls differ. */
interface Named {
  orgId?: string;
  organizationId?: string;
  projectId?: string;
  buildId?: string;
  credentialId?: string | number;
  dbId?: string;
  tableName?: string;
  rowId?: string | number;
  storageId?: string;
  fileId?: string;
}

const isMissing = (error: unknown) => error instanceof SlipwayError && error.code === "not_found";

/** The sentence about what an organization's projects share; it is true whichever of the named resources is missing. */
function missingData({ dbId, tableName, rowId, storageId, fileId }: Named): string | undefined {
  if (rowId !== undefined)
    return `There is no row ${rowId} in table ${tableName} of ${dbId}. List its rows with: slipway rows ${tableName}`;
  if (tableName !== undefined)
    return `There is no table ${tableName} in ${dbId}. List its tables with: slipway tables --database ${dbId}`;
  if (dbId !== undefined) return `There is no database ${dbId}. List them with: slipway databases list`;
  if (fileId !== undefined)
    return `There is no file ${fileId} in ${storageId}. List its files with: slipway files list --storage ${storageId}`;
  if (storageId !== undefined) return `There is no storage ${storageId}. List them with: slipway storages list`;
  return undefined;
}

/** The service gives the same error for a missing resource and for one of another owner; three reads find out which resource is meant. */
async function missingThing(client: Client, named: Named): Promise<string | undefined> {
  const { projectId, buildId, credentialId } = named;
  const orgId = named.orgId ?? named.organizationId;
  if (orgId === undefined) return undefined;
  const { organizations } = await client.listOrganizations();
  if (!organizations.some(({ id }) => id === orgId)) {
    const known = organizations.map(({ id, name }) => `${id} (${name})`).join(", ");
    const yours = known === "" ? "" : ` This key has access to: ${known}.`;
    return `There is no organization ${orgId} for this key. Check --organization or SLIPWAY_ORGANIZATION.${yours}`;
  }
  if (projectId === undefined) return missingData(named);
  const found = await client.listBuilds({ orgId, projectId, limit: 1 }).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (!found) return `There is no project ${projectId} in ${orgId}. Check --project or SLIPWAY_PROJECT.`;
  if (buildId !== undefined)
    return `There is no build ${buildId} in ${projectId}. List its builds with: slipway builds`;
  if (credentialId !== undefined)
    return `There is no key ${credentialId} in ${projectId}. List them with: slipway keys list`;
  return undefined;
}

/** Whether an address is on this machine, where `npm start` starts the service. */
export const isLocal = (baseUrl: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname);

function unreachable(error: SlipwayError, baseUrl: string): string | undefined {
  if (error.code !== "network") return undefined;
  const isOtherProtocol = error.message.includes("(EPROTO)") || error.message.includes("(ERR_SSL_");
  if (isOtherProtocol) return `${error.message} Check whether its address begins with http or https.`;
  const advice = isLocal(baseUrl)
    ? "Start the local service with: npm start"
    : "Check --url or SLIPWAY_URL, and your connection.";
  return `${error.message} ${advice}`;
}

/** The address answered, but not as a Slipway service of this version. */
const isStranger = ({ code, status = 0 }: SlipwayError) =>
  code === "unexpected_reply" || (code === "unexplained" && status < 500);

/** Rewords an error to say what to do, if the service cannot know this. */
async function explained(
  error: unknown,
  client: Client,
  { baseUrl, refused }: { baseUrl: string; refused: string },
  named: Named,
): Promise<unknown> {
  if (!(error instanceof SlipwayError)) return error;
  let message = unreachable(error, baseUrl);
  if (isMissing(error)) message = await missingThing(client, named).catch(() => undefined);
  if (error.status === 401) message = `${error.message} ${refused}`;
  if (isStranger(error)) {
    message = `${error.message} Is a Slipway service of this version at ${baseUrl}? Check --url or SLIPWAY_URL.`;
  }
  if (message === undefined) return error;
  const { code, status, issues, requestId, retryAfterSeconds, body } = error;
  return new SlipwayError(code, message, { status, issues, requestId, retryAfterSeconds, body, cause: error });
}

type AnyMethod = (input?: Named, options?: object) => Promise<unknown>;

/**
 * A client whose errors name the missing resource, or explain how to start a service that is not running. `refused` is what
 * to do if the credential is not valid.
 */
export function explainingClient(client: Client, baseUrl: string, refused: string): Client {
  const methods = Object.entries(client).map(([name, method]) => [
    name,
    async (input: Named = {}, options?: object) => {
      try {
        return await (method as AnyMethod)(input, options);
      } catch (error) {
        throw await explained(error, client, { baseUrl, refused }, input);
      }
    },
  ]);
  // The methods are the same; only their errors differ.
  return Object.fromEntries(methods) as Client;
}

/** Throws if the target does not exist or its key is invalid, before anything is packed or built. */
export async function checkTarget(target: {
  client: Client;
  project: { orgId: string; projectId: string };
}): Promise<void> {
  await target.client.listBuilds({ ...target.project, limit: 1 });
}
