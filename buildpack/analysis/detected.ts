import type { Detected } from "../../api/build.ts";
import type { Plan } from "./plan.ts";
import { planOrNothing } from "./set-commands.ts";
import type { AppliedSettings } from "./settings.ts";

const commands = { installCommand: null, buildCommand: null, startCommand: null };

/**
 * What detection says without the settings that replace it; `plan` is the one with them. The commands are detected in the folder that
 * `rootDirectory` names, where a setting that is removed would leave them.
 */
export function detectedBy(
  planFor: (applied: AppliedSettings) => Plan,
  applied: AppliedSettings,
  plan: Plan,
): Detected {
  const { settings } = applied;
  const isSet = (name: keyof typeof commands) => settings[name] !== null;
  const plain =
    isSet("installCommand") || isSet("buildCommand") || isSet("startCommand")
      ? planOrNothing(() => planFor({ ...applied, settings: { ...settings, ...commands } }))
      : plan;
  const without = { ...applied, folder: "", settings: { ...settings, ...commands, rootDirectory: null } };
  const rooted = settings.rootDirectory === null ? (plain ?? plan) : planOrNothing(() => planFor(without));
  return {
    rootDirectory: rooted?.root ?? null,
    packageManager: plain?.packageManager.name ?? null,
    installCommand: plain?.install ?? null,
    buildCommand: plain?.build ?? null,
    startCommand: plain?.start ?? null,
    port: plain?.port ?? null,
  };
}
