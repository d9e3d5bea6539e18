import { command, serviceOptions } from "../command.ts";
import { openTarget } from "../configuration.ts";
import { showDone, showRows } from "../show.ts";

/** `slipway domains list`: the project's own domains. */
export const domainsList = command({
  options: serviceOptions,
  run: async (args, context) => {
    const { client, project } = await openTarget(args, context);
    const reply = await client.listDomains(project);
    const rows = reply.domains.map(({ domain, status, createdAt }) => [domain, status, createdAt]);
    return showRows(args, context, reply, rows);
  },
});

/** `slipway domains add <domain>`. */
export const domainsAdd = command({
  operands: { shown: "<domain>", min: 1, max: 1 },
  options: serviceOptions,
  run: async (args, context) => {
    const { client, project } = await openTarget(args, context);
    const reply = await client.createDomain({ ...project, domain: args.operands[0] ?? "" });
    return showDone(args, context, reply, `Added ${reply.domain.domain}, which is ${reply.domain.status}.`);
  },
});

/** `slipway domains remove <domain>`. */
export const domainsRemove = command({
  operands: { shown: "<domain>", min: 1, max: 1 },
  options: serviceOptions,
  run: async (args, context) => {
    const { client, project } = await openTarget(args, context);
    const reply = await client.deleteDomain({ ...project, domain: args.operands[0] ?? "" });
    return showDone(args, context, reply, `Removed ${reply.domain}.`);
  },
});
