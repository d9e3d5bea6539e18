import { command, organizationOptions } from "../command.ts";
import { openOrganization } from "../configuration.ts";
import { showDone, showRows } from "../show.ts";
import { printable } from "../terminal.ts";

const row = ({ id, createdAt, name }: { id: string; createdAt: string; name: string }) => [
  id,
  createdAt,
  printable(name),
];
const operands = { shown: "<name>", min: 1, max: 1 };

/** `slipway databases list`. */
export const databasesList = command({
  options: organizationOptions,
  run: async (args, context) => {
    const { client, orgId } = await openOrganization(args, context);
    const reply = await client.listDatabases({ orgId });
    return showRows(args, context, reply, reply.databases.map(row));
  },
});

/** `slipway databases create <name>`: prints the new database's id. */
export const databasesCreate = command({
  operands,
  options: organizationOptions,
  run: async (args, context) => {
    const { client, orgId } = await openOrganization(args, context);
    const reply = await client.createDatabase({ orgId, name: args.operands[0] ?? "" });
    const { id, name } = reply.database;
    return showDone(args, context, reply, `Created the database ${printable(name)}.`, id);
  },
});

/** `slipway storages list`. */
export const storagesList = command({
  options: organizationOptions,
  run: async (args, context) => {
    const { client, orgId } = await openOrganization(args, context);
    const reply = await client.listStorages({ orgId });
    return showRows(args, context, reply, reply.storages.map(row));
  },
});

/** `slipway storages create <name>`: prints the new storage's id. */
export const storagesCreate = command({
  operands,
  options: organizationOptions,
  run: async (args, context) => {
    const { client, orgId } = await openOrganization(args, context);
    const reply = await client.createStorage({ orgId, name: args.operands[0] ?? "" });
    const { id, name } = reply.storage;
    return showDone(args, context, reply, `Created the storage ${printable(name)}.`, id);
  },
});
