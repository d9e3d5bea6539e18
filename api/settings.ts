import * as z from "zod";
import { isStorableText, lengthOf } from "./common.ts";
import { memorySizes, type Settings } from "./stored-settings.ts";

/** The limits of docs/api.md, Settings. Lengths are in Unicode code points. */
const settingsLimits = {
  commandLengthMax: 4096,
  rootDirectoryLengthMax: 1024,
  healthPathLengthMax: 1024,
  healthTimeoutSecondsMin: 10,
  healthTimeoutSecondsMax: 600,
  instancesMax: 10,
} as const;

/** The name of the file at an archive's root that holds settings. */
export const settingsFileName = "slipway.json";

/** Text of at most so many characters that a row can hold. */
const plainText = (lengthMax: number) =>
  z
    .string({ error: "must be a string or null" })
    .refine((text) => lengthOf(text) <= lengthMax, { error: `must have at most ${lengthMax} characters` })
    .refine(isStorableText, { error: "must be well-formed Unicode without NUL" });

const command = plainText(settingsLimits.commandLengthMax).regex(/^[^\r\n]*$/, {
  error: "must be one line; put several commands into a script file and call it here",
});

const rootDirectory = plainText(settingsLimits.rootDirectoryLengthMax)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about control characters.
  .regex(/^[^\u0000-\u001f\u007f]*$/, { error: "must not contain control characters" })
  .regex(/^(?![/\\]|[A-Za-z]:)/, { error: "must be a path inside the archive, not an absolute one" })
  .refine((path) => !path.split(/[/\\]/).includes(".."), { error: 'must not contain ".."' });

const healthPath = plainText(settingsLimits.healthPathLengthMax)
  .regex(/^\//, { error: "must start with /" })
  .regex(/^[^\s#\p{Cc}]*$/u, { error: "must not contain spaces, control characters or #" });

const whole = (min: number, max: number) => {
  const error = `must be an integer from ${min} to ${max}, or null`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

const rules = {
  rootDirectory: rootDirectory,
  installCommand: command,
  buildCommand: command,
  startCommand: command.refine((line) => line.trim() !== "", {
    error: "must not be empty; null leaves it to detection",
  }),
  releaseCommand: command,
  healthPath: healthPath,
  healthTimeoutSeconds: whole(settingsLimits.healthTimeoutSecondsMin, settingsLimits.healthTimeoutSecondsMax),
  memory: z.literal(memorySizes, { error: `must be one of ${memorySizes.join(", ")} (MiB), or null` }),
  instances: whole(1, settingsLimits.instancesMax),
};

export const settingNames = Object.keys(rules) as (keyof typeof rules)[];

/** The message for a field that settings do not have. */
const unknownField = (issue: { code?: string | undefined; keys?: readonly string[] }) =>
  issue.code === "unrecognized_keys"
    ? `has no field ${issue.keys?.join(", ")}; its fields are ${settingNames.join(", ")}`
    : "must be an object";

const change = {
  rootDirectory: rules.rootDirectory.nullable().optional(),
  installCommand: rules.installCommand.nullable().optional(),
  buildCommand: rules.buildCommand.nullable().optional(),
  startCommand: rules.startCommand.nullable().optional(),
  releaseCommand: rules.releaseCommand.nullable().optional(),
  healthPath: rules.healthPath.nullable().optional(),
  healthTimeoutSeconds: rules.healthTimeoutSeconds.nullable().optional(),
  memory: rules.memory.nullable().optional(),
  instances: rules.instances.nullable().optional(),
};

/** The settings that a request names; the others do not change. */
export const settingsChange = z.strictObject(change, { error: unknownField });
export type SettingsChange = z.output<typeof settingsChange>;

/** The content of `slipway.json`. A null in it means detection, even if the project's settings have a value. */
export const settingsFile = z.strictObject({ $schema: z.string().optional(), ...change }, { error: unknownField });

/** What an editor shows for each setting. */
const descriptions: Readonly<Record<keyof Settings, string>> = {
  rootDirectory: "The folder of the archive that holds the app, such as apps/web.",
  installCommand: "Installs the packages, run by a shell. An empty string skips the step.",
  buildCommand: "Builds the app, run by a shell. An empty string skips the step.",
  startCommand: "Starts the app, run by a shell. The app listens on the port in $PORT.",
  releaseCommand: "Runs once for each build in the new image before a new instance starts, such as a migration.",
  healthPath: "The path that must answer before traffic moves to a new version. Default: /",
  healthTimeoutSeconds: "How long a new version may take to give its first healthy answer. Default: 60",
  memory: "Memory of an instance in MiB, with its share of the processor. Default: 512",
  instances: "How many instances serve the app. Default: 1",
};

/** The JSON Schema of `slipway.json`, for editors. */
export function settingsFileSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(settingsFile, { target: "draft-2020-12", io: "input", unrepresentable: "any" });
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => [
    name,
    typeof property === "object" && name in descriptions
      ? { ...property, description: descriptions[name as keyof Settings] }
      : property,
  ]);
  return {
    ...schema,
    title: settingsFileName,
    description: "Settings of a Slipway project, docs/api.md, Settings.",
    properties: Object.fromEntries(properties),
  };
}
