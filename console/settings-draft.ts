import type { Detected, Finding } from "../api/build.ts";
import type { SettingsChange } from "../api/settings.ts";
import type { Settings } from "../api/stored-settings.ts";

export type SettingName = keyof Settings;

/** What the form holds for a setting: text that is empty for none, and whether its step is skipped. */
export interface SettingDraft {
  text: string;
  skipped: boolean;
}
export type SettingsDraft = Record<SettingName, SettingDraft>;

/** The settings whose empty text skips a step. */
export const skippable: ReadonlySet<SettingName> = new Set(["installCommand", "buildCommand"]);
const numbers: ReadonlySet<SettingName> = new Set(["healthTimeoutSeconds", "memory", "instances"]);

function draftOf(name: SettingName, value: string | number | null): SettingDraft {
  if (value === "" && skippable.has(name)) return { text: "", skipped: true };
  // The archive's root, which is set, unlike an empty field.
  if (value === "" && name === "rootDirectory") return { text: ".", skipped: false };
  return { text: value === null ? "" : String(value), skipped: false };
}

/** The form's content for the stored settings. */
export function settingsDraft(settings: Settings): SettingsDraft {
  const entries = Object.entries(settings) as [SettingName, string | number | null][];
  return Object.fromEntries(entries.map(([name, value]) => [name, draftOf(name, value)])) as SettingsDraft;
}

function valueIn(name: SettingName, { text, skipped }: SettingDraft): string | number | null {
  if (skipped) return "";
  if (text.trim() === "") return null;
  // A text that is no number is sent as it is: the service explains the rule.
  return numbers.has(name) && /^\d+$/.test(text.trim()) ? Number(text) : text;
}

/** The settings that the form changes. */
export function settingsChangeOf(stored: Settings, draft: SettingsDraft): SettingsChange {
  const before = settingsDraft(stored);
  const names = Object.keys(draft) as SettingName[];
  const changed = names.filter(
    (name) => draft[name].text !== before[name].text || draft[name].skipped !== before[name].skipped,
  );
  return Object.fromEntries(changed.map((name) => [name, valueIn(name, draft[name])])) as SettingsChange;
}

/** The settings that the archive's slipway.json names: what is set for the project has no effect on them. */
export function settingsInFile(findings: readonly Finding[]): ReadonlySet<string> {
  const inFile = findings.filter(({ code, file }) => code === "setting" && file !== null);
  return new Set(inFile.map(({ message }) => message.split(" ", 1)[0] ?? ""));
}

const defaults: Readonly<Partial<Record<SettingName, string>>> = {
  releaseCommand: "nothing runs",
  healthPath: "/",
  healthTimeoutSeconds: "60",
  memory: "512",
  instances: "1",
};

/** What holds without a setting: what was detected in the live build, or the default. */
export function withoutSetting(name: SettingName, detected: Detected | null): { label: string; value: string | null } {
  const fixed = defaults[name];
  if (fixed !== undefined) return { label: "Default", value: fixed };
  if (detected === null) return { label: "Detected with each build", value: null };
  switch (name) {
    case "rootDirectory":
      return { label: "Detected", value: detected.rootDirectory === "" ? "the top level" : detected.rootDirectory };
    case "installCommand":
    case "buildCommand":
    case "startCommand":
      return { label: "Detected", value: detected[name] ?? "nothing" };
    default:
      return { label: "Default", value: null };
  }
}
