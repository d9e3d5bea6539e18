import * as z from "zod";
import { errorTable } from "../../api/errors.ts";
import { operatorUses } from "../../statemachines/steps.ts";
import { errorFields, log } from "../http/log.ts";
import { Problem } from "../http/problem.ts";
import { prepareTools } from "../http/tools.ts";
import { type Command, operatorTools } from "./command.ts";
import { migrate } from "./migrate.ts";
import { addMember, createOrganization, createSignInLink, createToken, createUser, revokeToken } from "./people.ts";
import { activateDomain, addDomain, createCredential, createProject, removeDomain, setManagers } from "./projects.ts";
import { createDatabase, createStorage } from "./stores.ts";

/** The operator commands (docs/api.md, Operator commands), by name. */
const commands = new Map<string, Command>([
  ["create-user", createUser],
  ["create-token", createToken],
  ["revoke-token", revokeToken],
  ["create-sign-in-link", createSignInLink],
  ["create-organization", createOrganization],
  ["add-member", addMember],
  ["create-project", createProject],
  ["set-managers", setManagers],
  ["create-database", createDatabase],
  ["create-storage", createStorage],
  ["create-credential", createCredential],
  ["add-domain", addDomain],
  ["activate-domain", activateDomain],
  ["remove-domain", removeDomain],
  ["migrate", migrate],
]);

const invocation = z.object({ command: z.string(), input: z.unknown() });

export type OperatorAnswer =
  | { ok: true; output: object }
  | { ok: false; error: { status: string; message: string; code: string } };

const ready = prepareTools(operatorUses);

/** Runs one operator command. It can be invoked through Lambda only, not through the API. */
export async function handler(event: unknown): Promise<OperatorAnswer> {
  try {
    const { command, input } = invocation.parse(event);
    const run = commands.get(command);
    if (!run)
      throw new Problem("not_found", `There is no command ${command}. Known: ${[...commands.keys()].join(", ")}.`);
    return { ok: true, output: await run(input, operatorTools(command, await ready(), new Date())) };
  } catch (error) {
    const problem = error instanceof Problem ? error : new Problem("internal", "Something went wrong on our side.");
    if (problem !== error) log("error", "An operator command failed", errorFields(error));
    const { code, message } = problem;
    return { ok: false, error: { status: errorTable[code].title, message, code } };
  }
}
