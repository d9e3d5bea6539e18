import {
  DeleteRepositoryCommand,
  type ECRClient,
  paginateDescribeRepositories,
  RepositoryNotFoundException,
} from "@aws-sdk/client-ecr";

/** The names of the repositories of a stack's projects: those below its prefix that have a project id as their name. */
export async function projectRepositories(prefix: string, client: ECRClient): Promise<string[]> {
  const names: string[] = [];
  for await (const { repositories = [] } of paginateDescribeRepositories({ client, pageSize: 1000 }, {})) {
    names.push(...repositories.flatMap(({ repositoryName }) => repositoryName ?? []));
  }
  return names.filter(
    (name) => /^prj_[0-9a-z]{26}$/.test(name.slice(prefix.length + 1)) && name.startsWith(`${prefix}/`),
  );
}

/** Deletes repositories with all their images; a repository that no longer exists is skipped. */
export async function deleteRepositories(names: readonly string[], client: ECRClient): Promise<void> {
  for (const repositoryName of names) {
    try {
      await client.send(new DeleteRepositoryCommand({ repositoryName, force: true }));
    } catch (error) {
      if (error instanceof RepositoryNotFoundException) continue;
      const reason = error instanceof Error ? error.name : "an error";
      throw new Error(
        `ECR refused to delete the repository ${repositoryName} (${reason}). Fix the cause, then run this again.`,
        { cause: error },
      );
    }
  }
}
