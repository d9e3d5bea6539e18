import { commandsOf, execLast } from "../analysis/command.ts";
import type { Plan } from "../analysis/plan.ts";

/** Matches a plain command without shell syntax: it needs no shell between the container and the app. */
const plainWords = /^[\w@%+=:,./-]+(?: [\w@%+=:,./-]+)*$/;

/**
 * How the app is started, as the argument vector of its process. The app itself must be the process that receives SIGTERM:
 * `sh -c 'node x'` does not forward it, `sh -c 'exec node x'` replaces the shell.
 */
export function startArguments(plan: Pick<Plan, "prestart" | "start">): string[] {
  const { prestart, start } = plan;
  if (prestart === null && plainWords.test(start) && !/^(\w+=|exec )/.test(start) && execLast(start) !== start)
    return start.split(" ");
  const line = execLast(start);
  if (prestart === null) return ["/bin/sh", "-c", line];
  const before = commandsOf(prestart).every((command) => command.before === "" || command.before === "&&")
    ? prestart
    : `( ${prestart} )`;
  return ["/bin/sh", "-c", commandsOf(line).length === 1 ? `${before} && ${line}` : `${before} && { ${line}; }`];
}
