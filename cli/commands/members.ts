import { type Role, roles } from "../../api/role.ts";
import { command, organizationOptions } from "../command.ts";
import { type OrganizationTarget, openOrganization } from "../configuration.ts";
import { Failure, UsageError } from "../failure.ts";
import { showDone, showRows } from "../show.ts";
import { printable } from "../terminal.ts";

function roleOf(given: string): Role {
  const role = roles.find((one) => one === given);
  if (role === undefined) throw new UsageError(`The role must be one of ${roles.join(", ")}.`);
  return role;
}

/** The id of a member who is named by id or by e-mail address. */
async function memberOf({ client, orgId }: OrganizationTarget, named: string): Promise<string> {
  if (!named.includes("@")) return named;
  const { members } = await client.listMembers({ orgId });
  const found = members.find(({ email }) => email.toLowerCase() === named.toLowerCase());
  if (found === undefined) throw new Failure(`There is no member ${named}. List them with: slipway members list`);
  return found.id;
}

/** `slipway members list`. */
export const membersList = command({
  options: organizationOptions,
  run: async (args, context) => {
    const { client, orgId } = await openOrganization(args, context);
    const reply = await client.listMembers({ orgId });
    const rows = reply.members.map(({ id, role, email, name }) => [id, role, printable(email), printable(name)]);
    return showRows(args, context, reply, rows);
  },
});

/** `slipway members invite <email>`: prints the link to hand on if the user has no account yet. */
export const membersInvite = command({
  operands: { shown: "<email>", min: 1, max: 1 },
  options: {
    role: { type: "string", value: "role", describe: "member, admin or owner (default: member)" },
    name: { type: "string", value: "name", describe: "the name of a new user (default: the part before the @)" },
    ...organizationOptions,
  },
  run: async (args, context) => {
    const [email = ""] = args.operands;
    const role = roleOf(args.text("role") ?? "member");
    const { client, orgId } = await openOrganization(args, context, "user");
    const reply = await client.createMember({ orgId, email, role, name: args.text("name") });
    const who = printable(reply.member.email);
    const sentence =
      reply.invitation === null
        ? `${who} is a member now, as ${role}.`
        : `Invited ${who} as ${role}. Send them this link, which is valid until ${reply.invitation.expiresAt}:`;
    return showDone(args, context, reply, sentence, reply.invitation?.url);
  },
});

/** `slipway members role <user-id|email> <role>`. */
export const membersRole = command({
  operands: { shown: "<user-id|email> <role>", min: 2, max: 2 },
  options: organizationOptions,
  run: async (args, context) => {
    const [named = "", given = ""] = args.operands;
    const role = roleOf(given);
    const target = await openOrganization(args, context, "user");
    const userId = await memberOf(target, named);
    const reply = await target.client.updateMember({ orgId: target.orgId, userId, role });
    return showDone(args, context, reply, `${printable(reply.member.email)} is ${role} now.`);
  },
});

/** `slipway members remove <user-id|email>`. */
export const membersRemove = command({
  operands: { shown: "<user-id|email>", min: 1, max: 1 },
  options: organizationOptions,
  run: async (args, context) => {
    const [named = ""] = args.operands;
    const target = await openOrganization(args, context, "user");
    const userId = await memberOf(target, named);
    const reply = await target.client.deleteMember({ orgId: target.orgId, userId });
    return showDone(args, context, reply, `${printable(named)} is no longer a member.`);
  },
});
