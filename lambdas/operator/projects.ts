import * as z from "zod";
import { Addresses } from "../builds/model/rows.ts";
import { firstCredentialId } from "../credentials/model/project-keys.ts";
import { AccessKey } from "../http/model/credentials.ts";
import { Project, type ProjectRow } from "../http/model/project.ts";
import { newKeyPair, secretHash } from "../http/presented-credential.ts";
import { invalid, notFound, Problem } from "../http/problem.ts";
import { Organization, User } from "../organizations/model/rows.ts";
import { absent, present } from "../table/entity.ts";
import { newId, randomText } from "../table/ids.ts";
import { type Command, command, description, name, type OperatorTools } from "./command.ts";

function projectReply({ id, organizationId, name: projectName, managers, createdAt }: ProjectRow) {
  return { id, organizationId, name: projectName, managers: managers ?? null, createdAt };
}

async function projectOf(projectId: string, { table }: OperatorTools): Promise<ProjectRow> {
  const { project } = await table.read({ project: Project.at({ id: projectId }) });
  if (!project) throw notFound();
  return project;
}

export const createProject = command(z.object({ organizationId: z.string(), name }), async (input, { table, now }) => {
  const project = { id: newId("prj", now), ...input, secret: randomText(32), createdAt: now.toISOString() };
  const outcome = await table.write({
    organization: Organization.check({ id: input.organizationId }, { pk: present }),
    project: Project.put(project, project, { pk: absent }),
  });
  if (!outcome.ok) throw notFound();
  return { project: projectReply(project) };
});

export const setManagers = command(
  z.object({ projectId: z.string(), userIds: z.array(z.string()).max(90).nullable() }),
  async ({ projectId, userIds }, tools) => {
    const project = await projectOf(projectId, tools);
    if (userIds === null) {
      await tools.table.write({
        project: Project.update({ id: projectId }, { remove: ["managerIds", "managers"] }, { pk: present }),
      });
      return { project: projectReply({ ...project, managers: undefined }) };
    }
    const managerIds = [...new Set(userIds)];
    const users = await tools.table.read(Object.fromEntries(managerIds.map((id) => [id, User.at({ id })])));
    const managers = managerIds.map((id) => {
      const user = users[id];
      if (!user) throw notFound();
      return { id: user.id, name: user.name, email: user.email };
    });
    await tools.table.write({
      project: Project.update({ id: projectId }, { set: { managerIds, managers } }, { pk: present }),
    });
    return { project: projectReply({ ...project, managers }) };
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
    await tools.table.write({ key: AccessKey.put({ access }, row, { pk: absent }) });
    return { credential: { id, access, secret, description, expiredAt: null, createdAt } };
  },
);

const domainInput = z.object({
  projectId: z.string(),
  domain: z
    .string()
    .transform((text) => text.trim().toLowerCase())
    .pipe(
      z.string().regex(/^(?=.{1,253}$)([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/, {
        error: "must be a host name",
      }),
    ),
});

type DomainChange = (domains: Map<string, "pending" | "active">, domain: string) => void;

/** Changes a project's domains by compare-and-swap on the whole list, which is short. */
function domainCommand(change: DomainChange, status: "pending" | "active" | "removed") {
  return command(domainInput, async ({ projectId, domain }, tools) => {
    await projectOf(projectId, tools);
    for (let tries = 0; tries < 5; tries += 1) {
      const { row } = await tools.table.read({ row: Addresses.at({ projectId }) });
      const domains = new Map(Object.entries(row?.domains ?? {}));
      change(domains, domain);
      const set = { domains: Object.fromEntries(domains), revision: (row?.revision ?? 0) + 1 };
      const when = row?.revision === undefined ? { revision: absent } : { revision: row.revision };
      const outcome = await tools.table.write({ row: Addresses.update({ projectId }, { set }, when) });
      if (outcome.ok) return { domain: { projectId, name: domain, status } };
    }
    throw new Problem("unavailable", "The project's domains kept changing; please retry.");
  });
}

export const addDomain = domainCommand((domains, domain) => {
  if (domains.has(domain)) throw new Problem("name_taken", `The project already has the domain ${domain}.`);
  domains.set(domain, "pending");
}, "pending");

const activateRouted = domainCommand((domains, domain) => {
  if (!domains.has(domain)) throw notFound();
  domains.set(domain, "active");
}, "active");

/** An active domain is listed among a project's endpoints, so one that leads nowhere is refused. */
export const activateDomain: Command = async (input, tools) => {
  if (tools.customDomains.routed) return activateRouted(input, tools);
  const message =
    "cannot be activated: on AWS no request to a custom domain reaches its app yet; use the project's own address";
  throw invalid([{ path: "domain", message }]);
};

export const removeDomain = domainCommand((domains, domain) => {
  if (!domains.delete(domain)) throw notFound();
}, "removed");
