import { BatchDeleteImageCommand, ECRClient, paginateDescribeImages } from "@aws-sdk/client-ecr";
import { isId } from "../../api/ids.ts";
import { repositoryNameOf } from "./app-names.ts";
import { clientDefaults, isNamed } from "./clients.ts";

export interface ImageRetention {
  /** The builds of a project's images that were pushed before this time, oldest first; none if nothing was ever pushed. */
  olderThan(projectId: string, before: Date): Promise<string[]>;
  /** Deletes the images of these builds, at most 100; an image that other builds name as well stays. */
  remove(projectId: string, buildIds: readonly string[]): Promise<void>;
}

export function imageRetention({ IMAGE_REPOSITORIES: arn }: { IMAGE_REPOSITORIES: string }): ImageRetention {
  const client = new ECRClient(clientDefaults());
  const repositoryOf = (projectId: string) => repositoryNameOf(arn, projectId);
  return {
    async olderThan(projectId, before) {
      const found: { buildId: string; pushedAt: number }[] = [];
      try {
        const input = { repositoryName: repositoryOf(projectId), filter: { tagStatus: "TAGGED" as const } };
        for await (const { imageDetails = [] } of paginateDescribeImages({ client, pageSize: 1000 }, input)) {
          for (const { imageTags = [], imagePushedAt } of imageDetails) {
            if (imagePushedAt === undefined || imagePushedAt >= before) continue;
            const pushedAt = imagePushedAt.getTime();
            found.push(...imageTags.filter((tag) => isId("bld", tag)).map((buildId) => ({ buildId, pushedAt })));
          }
        }
      } catch (error) {
        if (!isNamed(error, "RepositoryNotFoundException")) throw error;
      }
      return found.toSorted((one, other) => one.pushedAt - other.pushedAt).map(({ buildId }) => buildId);
    },
    async remove(projectId, buildIds) {
      const imageIds = buildIds.slice(0, 100).map((imageTag) => ({ imageTag }));
      if (imageIds.length === 0) return;
      await client.send(new BatchDeleteImageCommand({ repositoryName: repositoryOf(projectId), imageIds }));
    },
  };
}
