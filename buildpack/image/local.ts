import type { Plan } from "../analysis/plan.ts";
import { shellWord } from "../analysis/static-command.ts";
import {
  type BuildCommand,
  buildCommands,
  installCommands,
  managerCommand,
  managerEnvironment,
  startNeedsManager,
  virtualEnvironment,
} from "./commands.ts";

/** A command of a local build and its additional environment. */
export interface LocalCommand extends BuildCommand {
  env: Record<string, string>;
}

/**
 * The same plan as commands for a machine without a container engine, to be run by `sh -c` in the app's folder with
 * `tools`/bin and the app's own binaries first on PATH. `python` is the interpreter to use; managers that the machine
 * does not have are installed into `tools`.
 */
export function localCommands(
  plan: Plan,
  machine: { python: string; tools: string; managers: ReadonlySet<string> },
): LocalCommand[] {
  const env = { ...managerEnvironment(plan), ...plan.buildEnv };
  const manager = machine.managers.has(plan.packageManager.name) ? null : managerCommand(plan);
  const needsManager = manager !== null && (!plan.installsNothing || plan.build !== null || startNeedsManager(plan));
  const installed: BuildCommand[] = needsManager ? [{ stage: "install", command: localManager(manager, machine) }] : [];
  const packages = installCommands(plan, shellWord(machine.python));
  const moved: BuildCommand[] = packages.some(({ command }) => command.endsWith(`-m venv ${virtualEnvironment}`))
    ? [{ stage: "install", command: relocate }]
    : [];
  return [...installed, ...packages, ...moved, ...buildCommands(plan)].map((command) => ({ ...command, env }));
}

function localManager(command: string, machine: { python: string; tools: string }): string {
  const tools = shellWord(machine.tools);
  if (command.startsWith("npm")) return command.replace("--global", `--global --prefix ${tools}`);
  return `${shellWord(machine.python)} -m venv ${tools} && ${tools}/bin/${command}`;
}

/** Programs in a virtual environment contain its path in their first line. This makes them find the interpreter on PATH, so that the folder can be moved. */
const relocate = [
  `${virtualEnvironment}/bin/python -c '`,
  "import pathlib, re",
  `for f in pathlib.Path("${virtualEnvironment}/bin").iterdir():`,
  "    if f.is_symlink() or not f.is_file(): continue",
  "    b = f.read_bytes()",
  '    n = re.sub(rb"\\A#!(?:[^\\n]*/python[0-9.]*|/bin/sh\\n.{3}exec.[^\\n]*\\n[^\\n]*)\\n", b"#!/usr/bin/env python3\\n", b, count=1)',
  "    if n != b: f.write_bytes(n)",
  "'",
].join("\n");
