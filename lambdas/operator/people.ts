import * as z from "zod";
import { limits } from "../../api/limits.ts";
import { role } from "../../api/organizations.ts";
import { tokenBounds } from "../../api/tokens.ts";
import { Membership, Token, TokenOwner } from "../http/model/credentials.ts";
import { notFound } from "../http/problem.ts";
import { newTokenOf } from "../me/model/new-token.ts";
import { Organization, User } from "../organizations/model/rows.ts";
import { newSignInLink } from "../sign-in/model/link.ts";
import { absent, present } from "../table/entity.ts";
import { newId } from "../table/ids.ts";
import { command, description, name } from "./command.ts";

export const createUser = command(z.object({ email: z.email(), name }), async (input, { table, now }) => {
  const user = { id: newId("usr", now), ...input, createdAt: now.toISOString() };
  await table.write({ user: User.put(user, user, { pk: absent }) });
  return { user };
});

export const createToken = command(
  z.object({ userId: z.string(), description, ...tokenBounds }),
  async (input, { table, now }) => {
    const { row, value, writes } = newTokenOf(input, now);
    const outcome = await table.write({ user: User.check({ id: input.userId }, { pk: present }), ...writes });
    if (!outcome.ok) throw notFound();
    return { token: { id: row.id, value } };
  },
);

export const revokeToken = command(z.object({ tokenId: z.string() }), async ({ tokenId }, { table }) => {
  const { owner } = await table.read({ owner: TokenOwner.at({ id: tokenId }) });
  if (!owner) throw notFound();
  await table.write({
    token: Token.delete({ userId: owner.userId, id: tokenId }),
    owner: TokenOwner.delete({ id: tokenId }),
  });
  return { token: tokenId };
});

/** A link that signs the user in once: for the first sign-in, and for a user who has lost every passkey. */
export const createSignInLink = command(z.object({ userId: z.string() }), async ({ userId }, tools) => {
  const validSeconds = limits.signInLinkValidSeconds;
  const link = newSignInLink({ userId, validSeconds, consoleAddress: tools.console.address }, tools.now);
  const { url, expiresAt, write } = link;
  const user = User.check({ id: userId }, { pk: present });
  const outcome = await tools.commit({ ownerId: userId, ids: { userId } }, { user, link: write });
  if (!outcome.ok) throw notFound();
  return { url, expiresAt };
});

export const createOrganization = command(z.object({ name }), async (input, { table, now }) => {
  const organization = { id: newId("org", now), name: input.name, createdAt: now.toISOString() };
  await table.write({ organization: Organization.put(organization, organization, { pk: absent }) });
  return { organization };
});

export const addMember = command(
  z.object({ organizationId: z.string(), userId: z.string(), role }),
  async (input, { table }) => {
    const { organization } = await table.read({ organization: Organization.at({ id: input.organizationId }) });
    if (!organization) throw notFound();
    const member = { ...input, organizationName: organization.name };
    const outcome = await table.write({
      user: User.check({ id: input.userId }, { pk: present }),
      membership: Membership.put(input, member),
    });
    if (!outcome.ok) throw notFound();
    return { member: input };
  },
);
