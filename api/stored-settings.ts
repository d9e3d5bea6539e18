import * as z from "zod";

/** The sizes of an instance's memory in MiB. */
export const memorySizes = [512, 1024, 2048, 4096] as const;
type MemoryMiB = (typeof memorySizes)[number];
/** The processor units that come with each size of memory: ECS accepts only certain pairs of the two. */
export const processorUnits: Readonly<Record<MemoryMiB, number>> = { 512: 256, 1024: 512, 2048: 1024, 4096: 2048 };

/** All settings as they are stored and answered; null is what detection and the defaults say. */
export const settings = () =>
  z.object({
    rootDirectory: z.string().nullable().default(null),
    installCommand: z.string().nullable().default(null),
    buildCommand: z.string().nullable().default(null),
    startCommand: z.string().nullable().default(null),
    releaseCommand: z.string().nullable().default(null),
    healthPath: z.string().nullable().default(null),
    healthTimeoutSeconds: z.int().nullable().default(null),
    memory: z.literal(memorySizes).nullable().default(null),
    instances: z.int().nullable().default(null),
  });
export type Settings = z.output<ReturnType<typeof settings>>;

/** The settings of a project for which none were set. */
export const noSettings: Settings = {
  rootDirectory: null,
  installCommand: null,
  buildCommand: null,
  startCommand: null,
  releaseCommand: null,
  healthPath: null,
  healthTimeoutSeconds: null,
  memory: null,
  instances: null,
};

/** How an app is run without settings. */
const runDefaults = { healthPath: "/", memory: 512, instances: 1 } as const;

/** How an app is run, by its settings or the defaults. */
export function runOptions(given: Settings | undefined) {
  const { healthPath, memory, instances } = given ?? noSettings;
  return {
    healthPath: healthPath ?? runDefaults.healthPath,
    memory: memory ?? runDefaults.memory,
    instances: instances ?? runDefaults.instances,
  };
}

/** The stored settings after a change; a row from before there were settings has none. */
export function changedSettings(
  stored: Settings | undefined,
  wanted: { [Name in keyof Settings]?: Settings[Name] | undefined },
): Settings {
  const named = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  return settings().parse({ ...noSettings, ...stored, ...named });
}
