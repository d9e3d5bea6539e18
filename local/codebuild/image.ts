import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

/** The build failed by what the user uploaded; the message is the last line of its log. */
export class BuildFailed extends Error {}

export interface ImageBuild {
  /** Empty, and removed afterwards. */
  folder: string;
  variables: Record<string, string>;
  put(line: string): void;
  signal: AbortSignal;
}

/** What the build exports, as `exported-variables` of the buildspec do. */
export type BuiltImage = { IMAGE_DIGEST: string; IMAGE_WARNING?: string };
export type ImageBuilder = (build: ImageBuild) => Promise<BuiltImage>;

/** What stands beside an image's files: how it is started. */
const imageSchema = z.object({
  command: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  folder: z.string(),
});
export type Image = z.infer<typeof imageSchema>;

/** Where an image's files are, by its digest. */
export function imageFolder(imagesDir: string, digest: string): string {
  return join(imagesDir, digest.replace("sha256:", ""));
}

/** What an image reference stands for on this machine: the folder to run in, the command and its environment. */
export async function resolveImage(imagesDir: string, reference: string) {
  const digest = reference.slice(reference.indexOf("@") + 1);
  const folder = imageFolder(imagesDir, digest);
  const image = imageSchema.parse(JSON.parse(readFileSync(join(folder, "image.json"), "utf8")));
  return { cwd: join(folder, "root", image.folder), command: image.command, env: image.env };
}
