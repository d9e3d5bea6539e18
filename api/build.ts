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
