import { execLast } from "../analysis/command.ts";
import type { Plan } from "../analysis/plan.ts";

/** What a shell would change: a plain command needs none between the container and the app. */
const plainWords = /^[\w@%+=:,./-]+(?: [\w@%+=:,./-]+)*$/;

/**
 * How the app is started, as the argument vector of its process. The app itself must be the process that gets SIGTERM:
 * `sh -c 'node x'` never hands it on, `sh -c 'exec node x'` does.
 */
export function startArguments(plan: Pick<Plan, "prestart" | "start">): string[] {
  if (plan.prestart === null && plainWords.test(plan.start) && !/^\w+=/.test(plan.start)) return plan.start.split(" ");
  const line = execLast(plan.start);
  return ["/bin/sh", "-c", plan.prestart === null ? line : `${plan.prestart} && ${line}`];
}
