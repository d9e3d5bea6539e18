import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { JsonService } from "../aws/service.ts";
import { deleteRepository } from "./operations.ts";

const imageFile = z.object({ projectId: z.string().optional() });

/** The project of an image; undefined for an image of an earlier version, and for one that is being built. */
function projectOf(folder: string): string | undefined {
  try {
    return imageFile.parse(JSON.parse(readFileSync(join(folder, "image.json"), "utf8"))).projectId;
  } catch {
    return undefined;
  }
}

/** Deletes the images that are folders, as without a container engine; returns whether there were any. */
export function deleteFolderImages(imagesDir: string, repositoryName: string): boolean {
  if (!existsSync(imagesDir)) return false;
  const projectId = repositoryName.split("/").at(-1);
  const folders = readdirSync(imagesDir)
    .map((name) => join(imagesDir, name))
    .filter((folder) => projectOf(folder) === projectId);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  return folders.length > 0;
}

/** What is needed of ECR where images are folders. */
export function folderRegistry(imagesDir: string): JsonService {
  const remove = async (name: string) => deleteFolderImages(imagesDir, name);
  return {
    target: "AmazonEC2ContainerRegistry_V20150921",
    operations: { DeleteRepository: deleteRepository(remove) },
  };
}
