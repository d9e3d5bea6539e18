import * as z from "zod";
import { limits } from "../../api/limits.ts";
import { hostName } from "../../api/projects.ts";
import { Addresses } from "../builds/model/rows.ts";
import { firstCredentialId } from "../credentials/model/project-keys.ts";
import { AccessKey } from "../http/model/credentials.ts";
import { Project, type ProjectRow } from "../http/model/project.ts";
import { newKeyPair, secretHash } from "../http/presented-credential.ts";
import { invalid, notFound } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { Organization, User } from "../organizations/model/rows.ts";
import { limitReached } from "../organizations/model/totals.ts";
import {
  activatedDomain,
  addedDomain,
  type DomainsOfProject,
  domainTaken,
  removedDomain,
} from "../projects/model/domains.ts";
import { changedProject, newProject, projectReply } from "../projects/model/project.ts";
import { absent, present } from "../table/entity.ts";
import type { Writes } from "../table/writer.ts";
import { type Command, command, description, name, type OperatorTools } from "./command.ts";

const replyOf = (row: ProjectRow) => ({ ...projectReply(row), organizationId: row.organizationId });

async function projectOf(projectId: string, { table }: OperatorTools): Promise<ProjectRow> {
  const { project } = await table.read({ project: Project.at({ id: projectId }) });
  if (!project) throw notFound();
  return project;
}

export const createProject = command(z.object({ organizationId: z.string(), name }), async (input, { commit, now }) => {
  const { row, writes } = newProject(input, now);
  const organization = Organization.check({ id: input.organizationId }, { pk: present });
  const change = { ownerId: input.organizationId, ids: { projectId: row.id } };
  const outcome = await commit(change, { organization, ...writes });
  if (!outcome.ok) throw outcome.failed.organization ? notFound() : limitReached("projects");
  return { project: replyOf(row) };
});

/** The operator may name any user: one who is not a member yet becomes a manager with the membership. */
async function managersOf(userIds: readonly string[], { table }: OperatorTools) {
  const users = await table.read(Object.fromEntries(userIds.map((id) => [id, User.at({ id })])));
  return userIds.map((id) => {
    const user = users[id];
    if (!user) throw notFound();
    return { id: user.id, name: user.name, email: user.email };
  });
}

export const setManagers = command(
  z.object({ projectId: z.string(), userIds: z.array(z.string()).max(limits.membersPerOrganizationMax).nullable() }),
  async ({ projectId, userIds }, tools) => {
    const managerIds = userIds === null ? undefined : [...new Set(userIds)];
    return retryConflicts("The project", async () => {
      const stored = await projectOf(projectId, tools);
      const managers = managerIds && (await managersOf(managerIds, tools));
      const { row, writes } = changedProject(stored, { managerIds, managers }, tools.now);
      const of = { ownerId: row.organizationId, ids: { projectId } };
      if ((await tools.commit(of, writes)).ok) return { project: replyOf(row) };
      return undefined;
    });
  },
);

/** A key of the organization, made by the operator: not one of the project's own three (docs/api.md, App keys). */
export const createCredential = command(
  z.object({ projectId: z.string(), description }),
  async ({ projectId, description }, tools) => {
    const { organizationId } = await projectOf(projectId, tools);
    const { access, secret } = newKeyPair(organizationId);
    const createdAt = tools.now.toISOString();
    const id = firstCredentialId(tools.now);
    const row = {
      access,
      hash: secretHash(secret),
      organizationId,
      projectId,
      credentialId: id,
      manual: false,
      description,
      createdAt,
    };
    const change = { ownerId: organizationId, ids: { projectId, credentialId: String(id) } };
    await tools.commit(change, { key: AccessKey.put({ access }, row, { pk: absent }) });
    return { credential: { id, access, secret, description, expiredAt: null, createdAt } };
  },
);

const domainInput = z.object({
  projectId: z.string(),
  domain: z.string().trim().pipe(hostName),
});

type DomainStatus = "pending" | "active" | "removed";
type DomainChange = (of: DomainsOfProject, domain: string, now: Date) => Writes;

/** Changes a project's domains; tries again if another change was first. */
function domainCommand(change: DomainChange, status: DomainStatus) {
  return command(domainInput, async ({ projectId, domain }, tools) => {
    return retryConflicts("The project's domains", async () => {
      const { createdAt, organizationId: ownerId } = await projectOf(projectId, tools);
      const { row } = await tools.table.read({ row: Addresses.at({ projectId }) });
      const project = Project.check({ id: projectId }, { pk: present });
      const writes = change({ projectId, createdAt, row }, domain, tools.now);
      const outcome = await tools.commit({ ownerId, ids: { projectId, domain } }, { project, ...writes });
      if (outcome.ok) return { domain: { projectId, name: domain, status } };
      const { name: taken, addresses } = outcome.failed as Record<string, unknown>;
      if (taken && !addresses) throw domainTaken(domain);
      return undefined;
    });
  });
}

export const addDomain = domainCommand((of, domain, now) => addedDomain(of, domain, now).writes, "pending");
const activateRouted = domainCommand(activatedDomain, "active");

/** An active domain is listed among a project's endpoints, so one that leads nowhere is refused. */
export const activateDomain: Command = async (input, tools) => {
  if (tools.customDomains.routed) return activateRouted(input, tools);
  const message =
    "cannot be activated: on AWS no request to a custom domain reaches its app yet; use the project's own address";
  throw invalid([{ path: "domain", message }]);
};

export const removeDomain = domainCommand(removedDomain, "removed");
