import { parseEnv } from "node:util";
import type { Suggestion } from "../plan.ts";

const ENVIRONMENT = /(^|\/)\.env(\.[\w-]+)*$/;
const TEMPLATE =
  /\.(?:(?:[\w-]+-)?(?:examples?|samples?|templates?)(?:-[\w-]+)?|tpl|dist|defaults?|schema|test|testing|ci|vault|me)(?:\.|$)/i;
const VARIABLE = /^\s*(?:export\s+)?[A-Za-z_]\w*\s*=\s*\S/;

/** True for a .env file of any name but those of templates. */
export const isEnvironmentFile = (shown: string): boolean =>
  ENVIRONMENT.test(shown) && !TEMPLATE.test(shown.slice(shown.lastIndexOf("/") + 1));

/** Advice against a committed .env file with values; its names and values are not shown. */
export function environmentFile(shown: string, text: string): Suggestion | undefined {
  const values = Object.values(parseEnv(text)).filter((value) => value !== undefined && value !== "");
  if (values.length === 0) return undefined;
  const line = text.split("\n").findIndex((row) => VARIABLE.test(row)) + 1;
  return {
    code: "committed_env_file",
    message: `The rule env/CommittedFile found values in ${shown}. Leave the file out of the archive and set its values as environment variables of the project.`,
    file: shown,
    line: Math.max(1, line),
  };
}
