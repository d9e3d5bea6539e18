import * as z from "zod";

const runtimes = ["nodejs26.x", "nodejs24.x", "nodejs22.x", "python3.14", "python3.13", "python3.12"] as const;
/** Builds from before September 2026 can still report these two (docs/api.md, Build fields). */
export const runtime = z.enum([...runtimes, "java21", "java17"]);
export type Runtime = z.infer<typeof runtime>;

export const buildStatus = z.enum(["pending", "analyzing", "building", "deploying", "ready", "error"]);
export type BuildStatus = z.infer<typeof buildStatus>;

export const finding = z.object({
  code: z.string(),
  message: z.string(),
  file: z.string().nullable(),
  line: z.int().nullable(),
});
export type Finding = z.infer<typeof finding>;

/**
 * What detection alone says about an archive, beside which settings are shown. The commands are those of the folder that is built;
 * null where nothing was detected. `rootDirectory` is "" for the top level.
 */
export const detected = z.object({
  rootDirectory: z.string().nullable(),
  packageManager: z.string().nullable(),
  installCommand: z.string().nullable(),
  buildCommand: z.string().nullable(),
  startCommand: z.string().nullable(),
  port: z.int().nullable(),
});
export type Detected = z.infer<typeof detected>;
