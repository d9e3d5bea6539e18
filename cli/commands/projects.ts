import { command, organizationOptions } from "../command.ts";
import { openOrganization } from "../configuration.ts";
import { UsageError } from "../failure.ts";
import { allProjects } from "../projects.ts";
import { showDone, showRows } from "../show.ts";
import { printable } from "../terminal.ts";

/** `slipway projects list`: every project of the organization. */
export const projectsList = command({
  options: organizationOptions,
  run: async (args, context) => {
    const projects = await allProjects(await openOrganization(args, context));
    if (projects.length === 0) context.terminal.note("No project yet. Create one with: slipway projects create <name>");
    const rows = projects.map(({ id, createdAt, name }) => [id, createdAt, printable(name)]);
    return showRows(args, context, { projects }, rows);
  },
});

/** `slipway projects create <name>`: prints the new project's id. */
export const projectsCreate = command({
  operands: { shown: "<name>", min: 1, max: 1 },
  options: organizationOptions,
  run: async (args, context) => {
    const [name = ""] = args.operands;
    const { client, orgId } = await openOrganization(args, context);
    const { project } = await client.createProject({ orgId, name });
    return showDone(args, context, { project }, `Created the project ${printable(project.name)}.`, project.id);
  },
});

/** `slipway projects rename <id> <name>`. */
export const projectsRename = command({
  operands: { shown: "<project-id> <name>", min: 2, max: 2 },
  options: organizationOptions,
  run: async (args, context) => {
    const [projectId = "", name = ""] = args.operands;
    const { client, orgId } = await openOrganization(args, context);
    const { project } = await client.updateProject({ orgId, projectId, name });
    return showDone(args, context, { project }, `The project ${project.id} is now called ${printable(project.name)}.`);
  },
});

/** `slipway projects delete <id> --confirm <name>`: the name is asked for because nothing brings a project back. */
export const projectsDelete = command({
  details: "Deletes its app, builds, variables, keys and domains for good.",
  operands: { shown: "<project-id>", min: 1, max: 1 },
  options: {
    confirm: { type: "string", value: "name", describe: "the project's name, so that no other is deleted" },
    ...organizationOptions,
  },
  run: async (args, context) => {
    const [projectId = ""] = args.operands;
    const confirm = args.text("confirm");
    if (confirm === undefined) throw new UsageError("Repeat the project's name: --confirm <name>.");
    const { client, orgId } = await openOrganization(args, context);
    const reply = await client.deleteProject({ orgId, projectId, confirm });
    return showDone(args, context, reply, `Deleted the project ${reply.project}.`);
  },
});
