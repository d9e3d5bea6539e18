import { parseEnv } from "node:util";
import type { App } from "../app.ts";
import type { Suggestion } from "../plan.ts";

const ENVIRONMENT = /(^|\/)\.env(\.[\w-]+)*$/;
const TEMPLATE =
  /\.(examples?|samples?|templates?|tpl|dist|defaults?|schema|test|testing|ci|vault|docker-example|me)(\.|$)/i;
const VARIABLE = /^\s*(?:export\s+)?[A-Za-z_]\w*\s*=\s*\S/;

/** Advice against a committed .env file with values; its names and values are not shown. */
export function environmentFile(app: App, path: string, text: string): Suggestion | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (!ENVIRONMENT.test(path) || TEMPLATE.test(name)) return undefined;
  const values = Object.values(parseEnv(text)).filter((value) => value !== undefined && value !== "");
  if (values.length === 0) return undefined;
  const line = text.split("\n").findIndex((row) => VARIABLE.test(row)) + 1;
  return {
    code: "committed_env_file",
    message: `The rule env/CommittedFile finds values in ${app.shown(path)}. Leave the file out of the archive and set its values as environment variables of the project.`,
    file: app.shown(path),
    line: Math.max(1, line),
  };
}
