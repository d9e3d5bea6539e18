import type { Plan } from "../analysis/plan.ts";
import { shellWord } from "../analysis/static-command.ts";
import { type BuildCommand, buildCommands, installCommands, managerCommand, managerEnvironment } from "./commands.ts";

export interface LocalCommand extends BuildCommand {
  env: Record<string, string>;
}

/**
 * The same plan as commands for a machine without a container engine, to be run in the app's folder. `python` is the
 * interpreter to use; managers are installed into `tools`, which must be first on PATH.
 */
export function localCommands(
  plan: Plan,
  machine: { python: string; tools: string; managers: ReadonlySet<string> },
): LocalCommand[] {
  const env = { ...managerEnvironment(plan), ...plan.buildEnv };
  const manager = machine.managers.has(plan.packageManager.name) ? null : managerCommand(plan);
  const needsManager = manager !== null && (plan.install !== null || plan.build !== null);
  const installed: BuildCommand[] = needsManager ? [{ stage: "install", command: localManager(manager, machine) }] : [];
  return [...installed, ...installCommands(plan, shellWord(machine.python)), ...buildCommands(plan)].map((command) => ({
    ...command,
    env,
  }));
}

function localManager(command: string, machine: { python: string; tools: string }): string {
  const tools = shellWord(machine.tools);
  if (command.startsWith("npm")) return command.replace("--global", `--global --prefix ${tools}`);
  return `${shellWord(machine.python)} -m venv ${tools} && ${tools}/bin/${command}`;
}
