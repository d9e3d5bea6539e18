import { existsSync, readFileSync } from "node:fs";
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

/**
 * Where a new image is put, by its digest. The name is short because apps run below it: the path of a Unix socket has at
 * most 107 characters.
 */
export function imageFolder(imagesDir: string, digest: string): string {
  return join(imagesDir, hexOf(digest).slice(0, 12));
}

/** Where the archive's files are in an image's folder. */
export const imageRoot = "app";

const hexOf = (digest: string) => digest.replace("sha256:", "");

/** The folder of an image and its root; earlier versions gave them longer names. */
function locate(imagesDir: string, digest: string): { folder: string; root: string } {
  const folder = imageFolder(imagesDir, digest);
  if (existsSync(folder)) return { folder, root: join(folder, imageRoot) };
  const earlier = join(imagesDir, hexOf(digest));
  return { folder: earlier, root: join(earlier, "root") };
}

/** What an image reference stands for on this machine: the folder to run in, the command and its environment. */
export async function resolveImage(imagesDir: string, reference: string) {
  const digest = reference.slice(reference.indexOf("@") + 1);
  const { folder, root } = locate(imagesDir, digest);
  const image = imageSchema.parse(JSON.parse(readFileSync(join(folder, "image.json"), "utf8")));
  return { cwd: join(root, image.folder), command: image.command, env: image.env };
}
