import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod";
import { createClient } from "../sdk/client.ts";
import type { Client } from "../sdk/client-types.ts";
import { readAuthorization } from "../sdk/configuration.ts";
import { readSavedLogins, savedLoginsFile } from "../sdk/saved-logins.ts";
import type { Arguments, Context, serviceOptions } from "./command.ts";
import { explainingClient } from "./explain.ts";
import { Failure } from "./failure.ts";
import { type LinkedProject, readLink } from "./linked-project.ts";

type Options<Name extends keyof typeof serviceOptions> = Pick<Arguments<Name>, "text">;
type ServiceArguments = Options<"url" | "profile">;

/** Some routes are for users only, for which the local service's token serves instead of its key. */
type Caller = "any" | "user";

/** A service and the credential for it. */
export interface Service {
  client: Client;
  baseUrl: string;
  /** The Authorization header, which is secret. */
  authorization: string;
  /** The local service's own resources, if it is the service. */
  local: LocalService;
  linked: LinkedProject;
}

/** The service, with the organization that a command is about. */
export interface OrganizationTarget extends Service {
  orgId: string;
}

/** The service, with the project that a command is about. */
export interface Target {
  client: Client;
  baseUrl: string;
  project: { orgId: string; projectId: string };
}

const localService = z
  .object({
    baseUrl: z.string(),
    organizationId: z.string(),
    projectId: z.string(),
    databaseId: z.string(),
    accessKey: z.string(),
    secretKey: z.string(),
    token: z.string(),
  })
  .partial();
type LocalService = z.infer<typeof localService>;

/**
 * The service: flags override the environment, which overrides the folder's link, the local service's file in this
 * folder, and the saved login, in this order. A credential is only sent to the service that it was saved for.
 */
export function openService(args: ServiceArguments, context: Context, caller: Caller = "any"): Service {
  const { environment, workingFolder } = context;
  const file = resolve(workingFolder, environment.SLIPWAY_HOME || ".slipway", "local.json");
  const link = readLink(workingFolder);
  const profile = args.text("profile") ?? (environment.SLIPWAY_PROFILE || undefined);
  const named = profile === undefined ? undefined : savedLogin(environment, profile);
  const wanted = args.text("url") ?? (environment.SLIPWAY_URL || named?.baseUrl || link.baseUrl);
  const local = named === undefined ? serviceFor(wanted, readLocalService(file)) : {};
  const saved = named ?? savedLogin(environment, undefined);
  const baseUrl = wanted ?? local.baseUrl ?? saved?.baseUrl;
  if (baseUrl === undefined) throw new Failure(notConfigured(file));
  const token = saved !== undefined && isSame(saved.baseUrl, baseUrl) ? saved.token : undefined;
  const { advice, ...credential } = credentialFor(environment, local, token, caller);
  const again = profile === undefined ? "" : ` --profile ${profile}`;
  const refused =
    advice === "log in again" ? `Your login has expired. Run: slipway login${again} --url ${baseUrl}` : advice;
  // A folder's project is one of the service that it was linked at.
  const linked = link.baseUrl === undefined || isSame(link.baseUrl, baseUrl) ? link : {};
  try {
    const authorization = readAuthorization(credential);
    const client = explainingClient(createClient({ baseUrl, ...credential }), baseUrl, refused);
    return { client, baseUrl: baseUrl.replace(/\/+$/, ""), authorization, local, linked };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const isAddress = error.message.startsWith("baseUrl");
    const message = isAddress
      ? `${error.message.replace("baseUrl", "The service's address")} Check --url or SLIPWAY_URL.`
      : error.message;
    throw new Failure(message, { cause: error });
  }
}

/** The address of the folder's linked project or of the local service; `undefined` if there is neither. */
export function ownServiceUrl({ environment, workingFolder }: Context): string | undefined {
  const file = resolve(workingFolder, environment.SLIPWAY_HOME || ".slipway", "local.json");
  return readLink(workingFolder).baseUrl ?? readLocalService(file).baseUrl;
}

/** The service with an organization: the named one, the linked one, or the credential's only one. */
export async function openOrganization(
  args: Options<"url" | "profile" | "organization">,
  context: Context,
  caller: Caller = "any",
): Promise<OrganizationTarget> {
  const service = openService(args, context, caller);
  const { SLIPWAY_ORGANIZATION } = context.environment;
  const orgId =
    args.text("organization") ??
    (SLIPWAY_ORGANIZATION || service.linked.organizationId || service.local.organizationId);
  return { ...service, orgId: orgId || (await onlyOrganization(service.client)) };
}

/** The service with a project: the named one, the linked one, or the local service's own. */
export async function openTarget(
  args: Options<"url" | "profile" | "organization" | "project">,
  context: Context,
): Promise<Target> {
  const { SLIPWAY_PROJECT } = context.environment;
  const service = openService(args, context);
  const { linked, local } = service;
  const projectId = args.text("project") ?? (SLIPWAY_PROJECT || linked.projectId || local.projectId);
  if (!projectId) {
    throw new Failure(
      "No project is selected. Use --project <id>, set SLIPWAY_PROJECT, or run: slipway link --project <id>. List the projects with: slipway projects list",
    );
  }
  const { client, baseUrl, orgId } = await openOrganization(args, context);
  return { client, baseUrl, project: { orgId, projectId } };
}

function notConfigured(file: string): string {
  return (
    "No service is configured. Set SLIPWAY_URL with SLIPWAY_ACCESS_KEY and SLIPWAY_SECRET_KEY (or SLIPWAY_TOKEN), " +
    `run slipway login, or start the local service with npm start, which writes ${file}.`
  );
}

const isSame = (a: string, b: string) => a.replace(/\/+$/, "") === b.replace(/\/+$/, "");

function savedLogin(environment: Context["environment"], profile: string | undefined) {
  const { current, profiles } = readLogins(environment);
  const name = profile ?? current;
  const saved = name === null ? undefined : profiles[name];
  if (saved === undefined && profile !== undefined) {
    throw new Failure(
      `There is no saved login ${profile}. Log in with: slipway login --profile ${profile} --url <address>`,
    );
  }
  return saved;
}

function readLogins(environment: Context["environment"]) {
  try {
    return readSavedLogins(savedLoginsFile(environment));
  } catch (error) {
    throw error instanceof Error ? new Failure(error.message, { cause: error }) : error;
  }
}

function readLocalService(file: string): LocalService {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw new Failure(`${file} cannot be read. Check its permissions.`, { cause: error });
  }
  try {
    return localService.parse(JSON.parse(text));
  } catch (error) {
    throw new Failure(
      `${file} is not a file of the local service. Delete it and start the service again with: npm start`,
      {
        cause: error,
      },
    );
  }
}

/** The local service's key and project are used for the local service only: its key must not be sent to another service. */
function serviceFor(wanted: string | undefined, local: LocalService): LocalService {
  return wanted === undefined || (local.baseUrl !== undefined && isSame(wanted, local.baseUrl)) ? local : {};
}

type Credential = { token: string } | { accessKey: string; secretKey: string };

/** The credential of a service, with what to do if the service refuses it. */
function credentialFor(
  environment: Context["environment"],
  local: LocalService,
  saved: string | undefined,
  caller: Caller,
): Credential & { advice: string } {
  const advice = "Check SLIPWAY_ACCESS_KEY and SLIPWAY_SECRET_KEY, or SLIPWAY_TOKEN.";
  const ofLocal = "It comes from the file of the local service: start the service again with npm start.";
  const { SLIPWAY_ACCESS_KEY: accessKey, SLIPWAY_SECRET_KEY: secretKey, SLIPWAY_TOKEN: token } = environment;
  if (accessKey && secretKey) return { accessKey, secretKey, advice };
  if (accessKey || secretKey)
    throw new Failure("One of SLIPWAY_ACCESS_KEY and SLIPWAY_SECRET_KEY is missing. Set both.");
  if (token) return { token, advice };
  if (caller === "user" && local.token) return { token: local.token, advice: ofLocal };
  if (local.accessKey && local.secretKey)
    return { accessKey: local.accessKey, secretKey: local.secretKey, advice: ofLocal };
  if (saved !== undefined) return { token: saved, advice: "log in again" };
  throw new Failure(
    "No key is configured. Set SLIPWAY_ACCESS_KEY and SLIPWAY_SECRET_KEY, or SLIPWAY_TOKEN, or run: slipway login",
  );
}

async function onlyOrganization(client: Client): Promise<string> {
  const { organizations } = await client.listOrganizations();
  const [first, ...others] = organizations;
  if (first !== undefined && others.length === 0) return first.id;
  const known = organizations.map(({ id, name }) => `${id} (${name})`).join(", ");
  throw new Failure(`Name the organization with --organization <id> or SLIPWAY_ORGANIZATION${known && `: ${known}`}.`);
}
