import { expect, test } from "vitest";
import { settingNames, settingsChange, settingsFile, settingsFileSchema } from "../../../api/settings.ts";
import { changedSettings, noSettings } from "../../../api/stored-settings.ts";

const problems = (value: unknown): string[] =>
  (settingsChange.safeParse(value).error?.issues ?? []).map(({ path, message }) => `${path.join(".")} ${message}`);

test("every setting may be null, and may be left out", () => {
  expect(problems({})).toEqual([]);
  expect(settingNames).toHaveLength(9);
  expect(problems(noSettings)).toEqual([]);
});

test.each([
  ["rootDirectory", "apps/web"],
  ["rootDirectory", "./apps/web/"],
  ["rootDirectory", "a..b"],
  ["rootDirectory", "apps\\web"],
  ["installCommand", ""],
  ["buildCommand", ""],
  ["buildCommand", "🚢".repeat(4096)],
  ["startCommand", "PORT=$PORT exec node 'a b.js' \"$HOME\""],
  ["releaseCommand", "npm run migrate"],
  ["healthPath", "/"],
  ["healthPath", "/health/ready?deep=1&lang=grüße"],
  ["healthTimeoutSeconds", 10],
  ["healthTimeoutSeconds", 600],
  ["memory", 512],
  ["memory", 4096],
  ["instances", 1],
  ["instances", 10],
])("%s may be %j", (name, value) => {
  expect(problems({ [name]: value })).toEqual([]);
});

test.each([
  ["rootDirectory", "../apps"],
  ["rootDirectory", "apps/../../etc"],
  ["rootDirectory", "apps\\..\\.."],
  ["rootDirectory", "/etc"],
  ["rootDirectory", "\\\\server\\share"],
  ["rootDirectory", "C:\\apps"],
  ["rootDirectory", "a\u0000b"],
  ["rootDirectory", "a\nb"],
  ["rootDirectory", "a".repeat(1025)],
  ["rootDirectory", 1],
  ["installCommand", "a\nb"],
  ["installCommand", ["npm", "ci"]],
  ["buildCommand", "a".repeat(4097)],
  ["buildCommand", "a\rb"],
  ["buildCommand", "a\u0000b"],
  ["buildCommand", "\ud800"],
  ["startCommand", ""],
  ["startCommand", " \t "],
  ["startCommand", false],
  ["releaseCommand", "🚢".repeat(4097)],
  ["healthPath", "health"],
  ["healthPath", ""],
  ["healthPath", "http://elsewhere/"],
  ["healthPath", "/a b"],
  ["healthPath", "/a\r\nHost: elsewhere"],
  ["healthPath", `/${"a".repeat(1024)}`],
  ["healthTimeoutSeconds", 9],
  ["healthTimeoutSeconds", 601],
  ["healthTimeoutSeconds", 60.5],
  ["healthTimeoutSeconds", "60"],
  ["memory", 256],
  ["memory", 8192],
  ["memory", "512"],
  ["instances", 0],
  ["instances", 11],
  ["instances", 1.5],
  ["instances", true],
])("%s cannot be %j; the message names the field", (name, value) => {
  const found = problems({ [name]: value });
  expect(found[0]).toMatch(new RegExp(`^${name} must`));
});

test("an unknown field is refused by its name, and so is a value that is not an object", () => {
  expect(problems({ memroy: 512 })[0]).toContain("has no field memroy; its fields are rootDirectory, ");
  expect(problems([])[0]).toContain("must be an object");
  expect(problems(null)[0]).toContain("must be an object");
  expect(settingsFile.safeParse({ $schema: "https://example.com/slipway.json" }).success).toBe(true);
  expect(settingsChange.safeParse({ $schema: "https://example.com/slipway.json" }).success).toBe(false);
});

test("a change keeps the settings that it does not name, and null removes a setting", () => {
  const first = changedSettings(undefined, { memory: 1024, startCommand: "node a.js" });
  expect(first).toEqual({ ...noSettings, memory: 1024, startCommand: "node a.js" });
  expect(changedSettings(first, { memory: null, instances: 3 })).toEqual({
    ...noSettings,
    startCommand: "node a.js",
    instances: 3,
  });
});

test("the JSON Schema for editors describes every setting and refuses other fields", () => {
  const schema = settingsFileSchema() as { properties: Record<string, unknown>; additionalProperties: boolean };
  expect(Object.keys(schema.properties)).toEqual(["$schema", ...settingNames]);
  expect(schema.additionalProperties).toBe(false);
  expect(JSON.stringify(schema.properties.memory)).toContain("512,1024,2048,4096");
  expect(JSON.stringify(schema.properties.instances)).toContain('"maximum":10');
  for (const name of settingNames) expect(JSON.stringify(schema.properties[name])).toContain("description");
});
