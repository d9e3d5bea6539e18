import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

/** The user's upload made the build fail; the message is the last line of the build log. */
export class BuildFailed extends Error {}

/** The image of a task does not exist in this way of running apps. Other errors do not mean that it must be built again. */
export class ImageMissing extends Error {}

export interface ImageBuild {
  id: string;
  /** An empty folder, which is removed after the build. */
  folder: string;
  variables: Record<string, string>;
  put(line: string): void;
  signal: AbortSignal;
}

/** The exported variables of a build, as in `exported-variables` of the buildspec. */
export type BuiltImage = { IMAGE_DIGEST: string; IMAGE_WARNING?: string };
export type ImageBuilder = (build: ImageBuild) => Promise<BuiltImage>;

/** The content of image.json, which says how to start the image. */
const imageSchema = z.object({
  command: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  folder: z.string(),
  /** The project that it was made for; absent in images of earlier versions. */
  projectId: z.string().optional(),
});
export type Image = z.infer<typeof imageSchema>;

/**
 * The folder of a new image with this digest. The name is short because apps may create Unix sockets below it, and the
 * path of a socket has at most 107 characters.
 */
export function imageFolder(imagesDir: string, digest: string): string {
  return join(imagesDir, hexOf(digest).slice(0, 12));
}

/** The folder of the archive's files within an image's folder. */
export const imageRoot = "app";

const hexOf = (digest: string) => digest.replace("sha256:", "");

/** The folder of an image and its root; earlier versions used longer names. */
function locate(imagesDir: string, digest: string): { folder: string; root: string } {
  const folder = imageFolder(imagesDir, digest);
  if (existsSync(folder)) return { folder, root: join(folder, imageRoot) };
  const earlier = join(imagesDir, hexOf(digest));
  return { folder: earlier, root: join(earlier, "root") };
}

/** The text of image.json; throws ImageMissing if there is none. */
function readImage(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      throw new ImageMissing("There is no such image.", { cause: error });
    throw error;
  }
}

/** Finds the image of a reference: the folder to run in, the command and its environment. Throws ImageMissing if there is none. */
export async function resolveImage(imagesDir: string, reference: string) {
  const digest = reference.slice(reference.indexOf("@") + 1);
  const { folder, root } = locate(imagesDir, digest);
  const image = imageSchema.parse(JSON.parse(readImage(join(folder, "image.json"))));
  return { cwd: join(root, image.folder), command: image.command, env: image.env };
}
