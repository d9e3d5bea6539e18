import type { Detected, Finding } from "../api/build.ts";
import type { SettingsChange } from "../api/settings.ts";
import type { Settings } from "../api/stored-settings.ts";

export type SettingName = keyof Settings;

/** A setting in the form: its text, which is empty if it is not set, and whether its step is skipped. */
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
  // An empty field means that it is not set, so the archive's root is shown as a dot.
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
  // Other texts are sent unchanged, so that the service's error explains the rule.
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

/** The settings in the archive's slipway.json; they override those of the project. */
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

/** The value that applies without a setting: the one detected in the live build, or the default. */
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
