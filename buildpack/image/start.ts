import { commandsOf, execLast } from "../analysis/command.ts";
import type { Plan } from "../analysis/plan.ts";

/** What a shell would leave as it is: a plain command needs none between the container and the app. */
const plainWords = /^[\w@%+=:,./-]+(?: [\w@%+=:,./-]+)*$/;

/**
 * How the app is started, as the argument vector of its process. The app itself must be the process that gets SIGTERM:
 * `sh -c 'node x'` never hands it on, `sh -c 'exec node x'` does.
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
