import type { ProjectReply } from "../api/projects.ts";
import type { OrganizationTarget } from "./configuration.ts";

/** Every project of an organization, newest first. */
export async function allProjects({
  client,
  orgId,
}: Pick<OrganizationTarget, "client" | "orgId">): Promise<ProjectReply[]> {
  const projects: ProjectReply[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listProjects({ orgId, limit: 100, cursor });
    projects.push(...page.projects);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return projects;
}
