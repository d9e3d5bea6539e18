import * as z from "zod";
import { confirmation, cursor, pageLimit, resourceName, timestamp } from "./common.ts";
import { limits } from "./limits.ts";
import { route } from "./route.ts";
import { settingsChange } from "./settings.ts";
import { settings } from "./stored-settings.ts";

const project = z.object({
  id: z.string(),
  name: z.string(),
  settings: settings(),
  managers: z.array(z.object({ id: z.string(), name: z.string(), email: z.string() })).nullable(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});
export type ProjectReply = z.output<typeof project>;

const projects = "/organizations/{orgId}/projects" as const;
const one = `${projects}/{projectId}` as const;

export const listProjects = route("list-projects", `GET ${projects}`, {
  summary: "The projects of the organization, newest first.",
  query: () => z.object({ limit: pageLimit(limits.projectsPageMax, limits.projectsPageDefault), cursor: cursor() }),
  tool: { name: "list_projects", description: "The projects of an organization, newest first." },
  reply: () => z.object({ projects: z.array(project), nextCursor: z.string().nullable() }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const createProject = route("create-project", `POST ${projects}`, {
  summary: "Creates a project.",
  body: () => z.object({ name: resourceName(), settings: settingsChange.optional() }),
  reply: () => z.object({ project }),
  status: 201,
  errors: ["limit_reached", "idempotency_mismatch"],
  event: "commit",
  uses: ["table:read", "table:write"],
  role: "admin",
});

export const getProject = route("get-project", `GET ${one}`, {
  summary: "One project.",
  reply: () => z.object({ project }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const updateProject = route("update-project", `PUT ${one}`, {
  summary: "Changes a project's name and the settings that are named.",
  body: () => z.object({ name: resourceName().optional(), settings: settingsChange.optional() }),
  reply: () => z.object({ project }),
  status: 200,
  errors: [],
  event: "commit",
  uses: ["table:read", "table:write"],
  role: "admin",
});

const userIds = z
  .array(z.string({ error: "must be an id" }), { error: "must be a list of ids of members, or null" })
  .max(limits.membersPerOrganizationMax, { error: `must name at most ${limits.membersPerOrganizationMax} members` })
  .transform((ids) => [...new Set(ids)])
  .nullable();

export const setManagers = route("set-managers", `PUT ${one}/managers`, {
  summary: "Restricts builds to these members; null opens the project to every member.",
  body: () => z.object({ userIds }),
  reply: () => z.object({ project }),
  status: 200,
  errors: [],
  event: "commit",
  uses: ["table:read", "table:write"],
  role: "admin",
});

/** A host name in lower case: labels of letters, digits and inner hyphens (docs/api.md, Domains). */
export const hostName = z
  .string({ error: "must be a string" })
  .transform((text) => text.toLowerCase())
  .refine(
    (text) =>
      /^(?=.{1,253}$)([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text),
    {
      error: "must be a host name such as www.example.com; for other letters use punycode",
    },
  );

const domain = z.object({ domain: z.string(), status: z.enum(["pending", "active"]), createdAt: timestamp() });

export const listDomains = route("list-domains", `GET ${one}/domains`, {
  summary: "The project's own domains, oldest first.",
  reply: () => z.object({ domains: z.array(domain) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const createDomain = route("create-domain", `POST ${one}/domains`, {
  summary: "Adds a domain that no other project has.",
  body: () => z.object({ domain: hostName }),
  reply: () => z.object({ domain }),
  status: 201,
  errors: ["name_taken", "limit_reached", "idempotency_mismatch"],
  event: "commit",
  uses: ["table:read", "table:write"],
  role: "admin",
});

export const deleteDomain = route("delete-domain", `DELETE ${one}/domains/{domain}`, {
  summary: "Removes a domain from the project.",
  reply: () => z.object({ domain: z.string() }),
  status: 200,
  errors: [],
  event: "commit",
  uses: ["table:read", "table:write"],
  role: "admin",
});

export const deleteProject = route("delete-project", `DELETE ${one}`, {
  summary: "Deletes a project with everything that belongs to it.",
  query: confirmation,
  reply: () => z.object({ project: z.string() }),
  status: 200,
  errors: [],
  event: "commit",
  uses: ["table:read", "table:write", "removals:start", "apps:remove"],
  role: "admin",
});
