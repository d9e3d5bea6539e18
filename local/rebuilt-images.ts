import { join } from "node:path";
import { CodeBuildClient, StartBuildCommand } from "@aws-sdk/client-codebuild";
import * as z from "zod";
import { Build } from "../lambdas/builds/model/rows.ts";
import { log } from "../lambdas/http/log.ts";
import { documentClient } from "../lambdas/table/client.ts";
import { tableReader } from "../lambdas/table/reader.ts";
import { ImageMissing } from "./codebuild/image.ts";
import type { CodeBuild } from "./codebuild/server.ts";
import type { TaskDefinitionRecord } from "./ecs/records.ts";
import { names } from "./names.ts";
import { readStateFile, writeStateFile } from "./state-file.ts";

const fileSchema = z.record(z.string(), z.string());
const exported = z.object({
  exportedEnvironmentVariables: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
});
/** Log streams of an app begin with its project and its build. */
const prefixPattern = /(prj_\w+)\/(bld_\w+)/;

export interface RebuiltImages {
  /**
   * Finds the image of a task with `find`. If that rejects with ImageMissing, the image was built for the other way of running
   * apps (folders for processes, ECR for containers), and is built again from the build's archive, once.
   */
  find<T>(reference: string, definition: TaskDefinitionRecord, find: (reference: string) => Promise<T>): Promise<T>;
}

/** `codeBuild` is known only after ECS was created. The digests of new images are kept in `home`. */
export function createRebuiltImages(home: string, codeBuild: () => CodeBuild | undefined): RebuiltImages {
  const path = join(home, "rebuilt-images.json");
  const known = readStateFile(path, fileSchema, "Delete it; live apps are then built again.") ?? {};
  const running = new Map<string, Promise<string>>();

  async function rebuild(reference: string, definition: TaskDefinitionRecord): Promise<string> {
    const prefix = definition.containerDefinitions[0].logConfiguration?.options?.["awslogs-stream-prefix"] ?? "";
    const [, projectId = "", buildId = ""] = prefixPattern.exec(prefix) ?? [];
    const table = tableReader(documentClient(), names.table);
    const { build } = await table.read({ build: Build.at({ projectId, id: buildId }) });
    const builds = codeBuild();
    if (!build?.archive || !builds)
      throw new Error("The image does not exist any more, and neither does the archive of its build");
    log("info", "An app was built for another way of running apps, so it is built again", { projectId, buildId });
    const variables = {
      SOURCE_BUCKET: names.archives,
      SOURCE_KEY: build.archive.key,
      SOURCE_VERSION: build.archive.version,
      ARTIFACT_BUCKET: names.artifacts,
      ARTIFACT_PREFIX: `builds/${buildId}/`,
      IMAGE_REPOSITORY: names.images,
      IMAGE_TAG: buildId,
      PROJECT_ID: projectId,
    };
    const started = await new CodeBuildClient({}).send(
      new StartBuildCommand({
        projectName: names.imageBuilds,
        environmentVariablesOverride: Object.entries(variables).map(([name, value]) => ({ name, value })),
      }),
    );
    const ended = await builds.finished(started.build?.id ?? "", new AbortController().signal);
    const digest = exported
      .parse(ended)
      .exportedEnvironmentVariables.find(({ name }) => name === "IMAGE_DIGEST")?.value;
    if (ended.buildStatus !== "SUCCEEDED" || !digest)
      throw new Error("The image does not exist any more, and building it again failed");
    const found = `${reference.slice(0, reference.indexOf("@"))}@${digest}`;
    known[reference] = found;
    writeStateFile(path, known);
    return found;
  }

  /** The image that was built again earlier; undefined if there is none any more. */
  async function findAgain<T>(reference: string, find: (reference: string) => Promise<T>): Promise<T | undefined> {
    const earlier = known[reference];
    if (earlier === undefined) return undefined;
    return find(earlier).catch((error: unknown) => {
      if (error instanceof ImageMissing) return undefined;
      throw error;
    });
  }

  return {
    async find(reference, definition, find) {
      try {
        return await find(reference);
      } catch (error) {
        if (!(error instanceof ImageMissing)) throw error;
        const again = await findAgain(reference, find);
        if (again) return again;
        const rebuilding = running.get(reference) ?? rebuild(reference, definition);
        running.set(reference, rebuilding);
        try {
          return await find(await rebuilding);
        } finally {
          running.delete(reference);
        }
      }
    },
  };
}
