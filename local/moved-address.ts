import { projectOf, serviceName } from "../lambdas/aws/app-names.ts";
import { Addresses } from "../lambdas/builds/model/rows.ts";
import { log } from "../lambdas/http/log.ts";
import { documentClient } from "../lambdas/table/client.ts";
import { tableWriter } from "../lambdas/table/writer.ts";
import type { BuiltImage, ImageBuild, ImageBuilder } from "./codebuild/image.ts";
import type { Ecs } from "./ecs/server.ts";

/** Stores the new address of an app whose port another program uses, so that GET /endpoints returns it. On AWS addresses never change. */
export async function rememberAddress(tableName: string, service: string, url: string): Promise<void> {
  const projectId = projectOf(service);
  if (projectId === undefined) return;
  const table = tableWriter(documentClient(), tableName);
  await table.write({ addresses: Addresses.update({ projectId }, { set: { url } }) });
  log("info", "The address of an app has changed because another program uses its port", { projectId, url });
}

/** Builds an image after reserving its app's address, so that a port in use does not make the later deployment fail. */
export async function buildAtAddress(
  build: ImageBuild,
  builder: ImageBuilder,
  reserveAddress: Ecs["reserveAddress"],
): Promise<BuiltImage> {
  const move = await reserveAddress(serviceName(build.variables.PROJECT_ID ?? ""));
  if (!move) return builder(build);
  const moved = `Port ${move.from} of this machine is in use by ${move.holder}. The app's address is now http://127.0.0.1:${move.to}.`;
  build.put(moved);
  const image = await builder(build);
  return { ...image, IMAGE_WARNING: [moved, image.IMAGE_WARNING].filter(Boolean).join("\n") };
}
