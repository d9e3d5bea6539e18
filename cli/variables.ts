import { readFileSync } from "node:fs";
import { parseEnvFile } from "../sdk/env-file.ts";
import type { Target } from "./configuration.ts";
import { Failure } from "./failure.ts";

/** Variables by name; their values are secrets. */
export type Variables = ReadonlyMap<string, string>;

/** Reads a file of NAME=value lines as Node.js reads .env files, but not the next line for an empty value. */
export function readVariables(file: string): Variables {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new Failure(`${file} cannot be read. Check the path and its permissions.`, { cause: error });
  }
  const variables = new Map(parseEnvFile(text).variables.map(({ name, value }) => [name, value]));
  if (variables.size === 0) throw new Failure(`${file} contains no variable. Write one NAME=value per line.`);
  return variables;
}

/** Creates or changes the variables of the project, in their order, and returns their names; a variable that already has this value is not written again. */
export async function storeVariables({ client, project }: Target, variables: Variables): Promise<string[]> {
  const { environments } = await client.listEnvironments(project);
  const known = new Map(environments.map((variable) => [variable.name, variable]));
  for (const [name, value] of variables) {
    const old = known.get(name);
    if (old === undefined) await client.createEnvironment({ ...project, name, value });
    else if (old.value !== value) await client.updateEnvironment({ ...project, envId: old.id, value });
  }
  return [...variables.keys()];
}
