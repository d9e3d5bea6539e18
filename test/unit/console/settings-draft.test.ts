import { describe, expect, test } from "vitest";
import { noSettings } from "../../../api/stored-settings.ts";
import { settingsChangeOf, settingsDraft, settingsInFile, withoutSetting } from "../../../console/settings-draft.ts";

describe("the form of a project's settings", () => {
  const stored = {
    ...noSettings,
    rootDirectory: "",
    installCommand: "",
    startCommand: "node a.js",
    memory: 1024,
  } as const;

  test("changes nothing by itself", () => {
    expect(settingsChangeOf(stored, settingsDraft(stored))).toEqual({});
    expect(settingsChangeOf(noSettings, settingsDraft(noSettings))).toEqual({});
  });

  test("sends what was changed: an empty field is null, a skipped step an empty text, digits are a number", () => {
    const draft = {
      ...settingsDraft(stored),
      startCommand: { text: " ", skipped: false },
      installCommand: { text: "", skipped: false },
      buildCommand: { text: "", skipped: true },
      instances: { text: "3", skipped: false },
      healthTimeoutSeconds: { text: "1e3", skipped: false },
    };
    expect(settingsChangeOf(stored, draft)).toEqual({
      startCommand: null,
      installCommand: null,
      buildCommand: "",
      instances: 3,
      healthTimeoutSeconds: "1e3",
    });
  });

  test("says what holds without a setting", () => {
    const detected = {
      rootDirectory: "",
      packageManager: "npm",
      installCommand: "npm ci",
      buildCommand: null,
      startCommand: "node server.js",
      port: 8080,
    };
    expect(withoutSetting("rootDirectory", detected)).toEqual({ label: "Detected", value: "the top level" });
    expect(withoutSetting("buildCommand", detected)).toEqual({ label: "Detected", value: "nothing" });
    expect(withoutSetting("installCommand", detected)).toEqual({ label: "Detected", value: "npm ci" });
    expect(withoutSetting("startCommand", null).value).toBe(null);
    expect(withoutSetting("instances", null)).toEqual({ label: "Default", value: "1" });
  });

  test("knows which settings the archive's file replaces", () => {
    const findings = [
      { code: "setting", message: "memory comes from slipway.json.", file: "slipway.json", line: 5 },
      { code: "setting", message: "instances comes from the project's settings.", file: null, line: null },
      { code: "no_lock_file", message: "x", file: "package.json", line: 1 },
    ];
    expect([...settingsInFile(findings)]).toEqual(["memory"]);
  });
});
