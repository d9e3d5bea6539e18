import { DeleteRepositoryCommand, ECRClient } from "@aws-sdk/client-ecr";
import { repositoryNameOf } from "./app-names.ts";
import { clientDefaults, isNamed } from "./clients.ts";

export interface ImageRemover {
  /** Deletes the project's repository with all of its images; succeeds if there is none. */
  remove(projectId: string): Promise<void>;
}

export function imageRemover(environment: { IMAGE_REPOSITORIES: string }): ImageRemover {
  const ecr = new ECRClient(clientDefaults({ requestTimeout: 30_000 }));
  return {
    async remove(projectId) {
      const repositoryName = repositoryNameOf(environment.IMAGE_REPOSITORIES, projectId);
      await ecr.send(new DeleteRepositoryCommand({ repositoryName, force: true })).catch((error) => {
        if (!isNamed(error, "RepositoryNotFoundException")) throw error;
      });
    },
  };
}
