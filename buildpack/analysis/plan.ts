import * as z from "zod";
import type { Detected, Finding } from "../../api/build.ts";
import type { Settings } from "../../api/stored-settings.ts";

/** The runtimes that a new build can report (docs/api.md, Build fields). */
export const runtimeSchema = z.enum([
  "nodejs26.x",
  "nodejs24.x",
  "nodejs22.x",
  "python3.14",
  "python3.13",
  "python3.12",
]);
export type Runtime = z.infer<typeof runtimeSchema>;

const languageSchema = z.enum(["nodejs", "python"]);
export type Language = z.infer<typeof languageSchema>;

const packageManagerNameSchema = z.enum(["npm", "pnpm", "yarn", "bun", "pip", "uv", "poetry", "pdm", "pipenv"]);
export type PackageManagerName = z.infer<typeof packageManagerNameSchema>;

/** A package manager; `version` is a version, range or tag that its registry understands, null for the version included in the base image. */
const packageManagerSchema = z.object({ name: packageManagerNameSchema, version: z.string().nullable() });
export type PackageManager = z.infer<typeof packageManagerSchema>;

/**
 * A folder of built files to serve, relative to the root. `fallback` is the page for paths without a file. "404.html" is sent
 * with status 404 if the build writes it; any other page routes in the browser and is sent with status 200.
 */
const staticSiteSchema = z.object({ dir: z.string(), fallback: z.string() });
export type StaticSite = z.infer<typeof staticSiteSchema>;

/** How an archive is installed, built and started; all commands run in `root`. */
export const planSchema = z.object({
  runtime: runtimeSchema,
  language: languageSchema,
  /** The runtime's release line: "24", "3.13". */
  version: z.string(),
  packageManager: packageManagerSchema,
  install: z.string().nullable(),
  /** True if `install` would install nothing: an image build skips it. */
  installsNothing: z.boolean(),
  build: z.string().nullable(),
  /** Runs before `start` each time the app starts. */
  prestart: z.string().nullable(),
  /** A shell command line; `startArguments(plan)` turns it into the process that receives SIGTERM. */
  start: z.string(),
  port: z.int().min(1).max(65_535),
  /** The app's folder in the archive: "" or "web", without a slash at either end. */
  root: z.string(),
  static: staticSiteSchema.nullable(),
  /** Files and folders, relative to the root, that `install` needs; null when it needs the whole tree. */
  manifests: z.array(z.string()).nullable(),
  /** Python packages that start needs and the app does not declare: gunicorn, uvicorn. */
  addedPackages: z.array(z.string()),
  /** Debian packages that the run stage needs beyond the slim image. */
  systemPackages: z.array(z.string()),
  /** Environment of the build and install commands, in addition to the project's variables. */
  buildEnv: z.record(z.string(), z.string()),
  /** Environment of the app, in addition to the project's variables: PORT, HOST, HOSTNAME and the like. */
  env: z.record(z.string(), z.string()),
});
export type Plan = z.infer<typeof planSchema>;

/** Advice on one line of the archive (docs/api.md, Build fields: `suggestion`, `findings`); `line` starts at 1. */
const suggestionSchema = z.object({
  code: z.string(),
  message: z.string(),
  file: z.string(),
  line: z.int().min(1),
});
export type Suggestion = z.infer<typeof suggestionSchema>;

const analysisSchema = z.object({
  runtime: runtimeSchema,
  language: languageSchema,
  plan: planSchema,
  suggestions: z.array(suggestionSchema),
  warnings: z.array(z.string()),
});
export type Analysis = z.infer<typeof analysisSchema>;

export type AnalysisErrorCode =
  | "nothing_detected"
  | "several_apps"
  | "unsupported_language"
  | "broken_manifest"
  | "no_start_command";

export type AnalysisOutcome =
  | {
      ok: true;
      analysis: Analysis;
      /** The settings that apply to this archive, and one finding for each that is set. */
      settings: Settings;
      findings: Finding[];
      detected: Detected;
    }
  | { ok: false; runtime: Runtime | null; error: { code: AnalysisErrorCode; message: string; entry?: string } };
