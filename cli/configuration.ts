import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod";
import { createClient } from "../sdk/client.ts";
import type { Client } from "../sdk/client-types.ts";
import type { ClientConfiguration } from "../sdk/configuration.ts";
import type { Arguments, Context, serviceOptions } from "./command.ts";
import { explainingClient } from "./explain.ts";
import { Failure } from "./failure.ts";

type ServiceArguments = Pick<Arguments<keyof typeof serviceOptions>, "text">;

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
    accessKey: z.string(),
    secretKey: z.string(),
  })
  .partial();
type LocalService = z.infer<typeof localService>;

/** Flags override the environment, which overrides the local service's configuration file (docs/api.md, Local service). */
export async function openTarget(args: ServiceArguments, context: Context): Promise<Target> {
  const { environment } = context;
  const file = resolve(environment.SLIPWAY_HOME || ".slipway", "local.json");
  const wanted = args.text("url") ?? (environment.SLIPWAY_URL || undefined);
  const local = serviceFor(wanted, readLocalService(file));
  const baseUrl = wanted ?? local.baseUrl;
  if (baseUrl === undefined) throw new Failure(notConfigured(file));
  const client = explainingClient(clientFor({ baseUrl, ...credentialFor(environment, local) }), baseUrl);
  const orgId = args.text("organization") ?? (environment.SLIPWAY_ORGANIZATION || local.organizationId);
  const projectId = args.text("project") ?? (environment.SLIPWAY_PROJECT || local.projectId);
  if (!projectId) throw new Failure("No project is selected. Use --project <id>, or set SLIPWAY_PROJECT.");
  return { client, baseUrl, project: { orgId: orgId || (await onlyOrganization(client)), projectId } };
}

function notConfigured(file: string): string {
  return (
    "No service is configured. Set SLIPWAY_URL with SLIPWAY_ACCESS_KEY and SLIPWAY_SECRET_KEY (or SLIPWAY_TOKEN), " +
    `or start the local service with npm start, which writes ${file}.`
  );
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
  const same = (a: string, b: string) => a.replace(/\/+$/, "") === b.replace(/\/+$/, "");
  return wanted === undefined || (local.baseUrl !== undefined && same(wanted, local.baseUrl)) ? local : {};
}

function credentialFor(
  environment: Context["environment"],
  local: LocalService,
): { token: string } | { accessKey: string; secretKey: string } {
  const { SLIPWAY_ACCESS_KEY: accessKey, SLIPWAY_SECRET_KEY: secretKey, SLIPWAY_TOKEN: token } = environment;
  if (accessKey && secretKey) return { accessKey, secretKey };
  if (accessKey || secretKey)
    throw new Failure("One of SLIPWAY_ACCESS_KEY and SLIPWAY_SECRET_KEY is missing. Set both.");
  if (token) return { token };
  if (local.accessKey && local.secretKey) return { accessKey: local.accessKey, secretKey: local.secretKey };
  throw new Failure("No key is configured. Set SLIPWAY_ACCESS_KEY and SLIPWAY_SECRET_KEY, or SLIPWAY_TOKEN.");
}

function clientFor(configuration: ClientConfiguration): Client {
  try {
    return createClient(configuration);
  } catch (error) {
    if (error instanceof TypeError) throw new Failure(error.message, { cause: error });
    throw error;
  }
}

async function onlyOrganization(client: Client): Promise<string> {
  const { organizations } = await client.listOrganizations();
  const [first, ...others] = organizations;
  if (first !== undefined && others.length === 0) return first.id;
  const known = organizations.map(({ id, name }) => `${id} (${name})`).join(", ");
  throw new Failure(`Name the organization with --organization <id> or SLIPWAY_ORGANIZATION${known && `: ${known}`}.`);
}
