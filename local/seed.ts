import { join } from "node:path";
import * as z from "zod";
import { log } from "../lambdas/http/log.ts";
import { readCredential } from "../lambdas/http/presented-credential.ts";
import { migrateAll } from "../lambdas/operator/migrate-all.ts";
import { readStateFile, writeStateFile } from "./state-file.ts";

/** The file `local.json` of a data folder. */
export const localFile = z.object({
  baseUrl: z.string(),
  organizationId: z.string(),
  projectId: z.string(),
  databaseId: z.string(),
  storageId: z.string(),
  accessKey: z.string(),
  secretKey: z.string(),
  token: z.string(),
});

type Operator = (command: string, input: object) => Promise<unknown>;

const answer = z.object({
  ok: z.literal(true),
  output: z.record(z.string(), z.looseObject({ id: z.union([z.string(), z.int()]) })),
});

async function makeSeed(operator: Operator): Promise<Omit<z.infer<typeof localFile>, "baseUrl">> {
  const make = async (command: string, kind: string, input: object) => {
    const made = answer.parse(await operator(command, input)).output[kind];
    if (!made) throw new Error(`${command} made no ${kind}`);
    return made;
  };
  const organization = await make("create-organization", "organization", { name: "Local" });
  const organizationId = String(organization.id);
  const user = await make("create-user", "user", { name: "Local user", email: "local@localhost.localdomain" });
  await operator("add-member", { organizationId, userId: user.id, role: "owner" });
  const [project, database, storage, token] = await Promise.all([
    make("create-project", "project", { organizationId, name: "First project" }),
    make("create-database", "database", { organizationId, name: "First database" }),
    make("create-storage", "storage", { organizationId, name: "First storage" }),
    make("create-token", "token", { userId: user.id, description: "local.json" }),
  ]);
  const projectId = String(project.id);
  const credential = await make("create-credential", "credential", { projectId, description: "local.json" });
  return {
    organizationId,
    projectId,
    databaseId: String(database.id),
    storageId: String(storage.id),
    accessKey: String(credential.access),
    secretKey: String(credential.secret),
    token: String(token.value),
  };
}

const damagedAdvice =
  "Replace it with its last good copy. Or move it away: the next start creates another organization; the operator's commands still reach the existing ones.";

/**
 * Creates `local.json` at the first start and tells its user: an organization with a project, database, storage, key and token. A crash in
 * between leaves an unused organization, but never an incomplete file.
 */
export async function seed(options: {
  home: string;
  baseUrl: string;
  operator: Operator;
}): Promise<{ userId: string | undefined }> {
  const path = join(options.home, "local.json");
  const known = readStateFile(path, localFile, damagedAdvice);
  const content = { baseUrl: options.baseUrl, ...(known ?? (await makeSeed(options.operator))) };
  content.baseUrl = options.baseUrl;
  writeStateFile(path, content);
  return { userId: userOfToken(content.token) };
}

/** A personal access token contains the id of its user. */
export function userOfToken(token: string): string | undefined {
  const credential = readCredential({ authorization: `Bearer ${token}` });
  return credential?.kind === "token" ? credential.userId : undefined;
}

const reportAnswer = z.object({ ok: z.literal(true), output: z.unknown() });

/** Brings the rows of a home from an earlier version up to date; says what only a person can decide. */
export async function migrateHome(operator: Operator): Promise<void> {
  const invoke = async (input: object) => reportAnswer.parse(await operator("migrate", input)).output;
  const { changed, conflicts } = await migrateAll(invoke, { onlyIfNeeded: true });
  if (changed > 0) log("info", "Rows of an earlier version were brought up to date", { changed });
  for (const conflict of conflicts) log("error", conflict);
}

const linkAnswer = z.object({ ok: z.literal(true), output: z.object({ url: z.string() }) });

/** A fresh one-time link that signs the seeded user in to the console. */
export async function newSignInLink(operator: Operator, userId: string): Promise<string> {
  return linkAnswer.parse(await operator("create-sign-in-link", { userId })).output.url;
}
