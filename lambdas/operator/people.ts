import * as z from "zod";
import { limits } from "../../api/limits.ts";
import { role } from "../../api/organizations.ts";
import { tokenBounds } from "../../api/tokens.ts";
import { Token, TokenOwner } from "../http/model/credentials.ts";
import { notFound } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { newTokenOf } from "../me/model/new-token.ts";
import { memberWrites, newUser, roleChange } from "../organizations/model/members.ts";
import { newOrganization } from "../organizations/model/organizations.ts";
import { Member, Organization, User } from "../organizations/model/rows.ts";
import { limitReached } from "../organizations/model/totals.ts";
import { newSignInLink } from "../sign-in/model/link.ts";
import { present } from "../table/entity.ts";
import type { Writes } from "../table/writer.ts";
import { command, description, name } from "./command.ts";

/** Two users of the operator's may have one address: invitations then mean the first. */
export const createUser = command(z.object({ email: z.email(), name }), async (input, { commit, now }) => {
  const { user, writes } = newUser(input, now);
  const change = { ownerId: user.id, ids: { userId: user.id } };
  const outcome = await commit(change, writes);
  if (!outcome.ok) await commit(change, { user: writes.user });
  return { user };
});

export const createToken = command(
  z.object({ userId: z.string(), description, ...tokenBounds }),
  async (input, { commit, now }) => {
    const { userId } = input;
    const { row, value, writes } = newTokenOf(input, now);
    const user = User.check({ id: userId }, { pk: present });
    const outcome = await commit({ ownerId: userId, ids: { userId, tokenId: row.id } }, { user, ...writes });
    if (!outcome.ok) throw notFound();
    return { token: { id: row.id, value } };
  },
);

export const revokeToken = command(z.object({ tokenId: z.string() }), async ({ tokenId }, { table, commit }) => {
  const { owner } = await table.read({ owner: TokenOwner.at({ id: tokenId }) });
  if (!owner) throw notFound();
  const { userId } = owner;
  await commit(
    { ownerId: userId, ids: { userId, tokenId } },
    { token: Token.delete({ userId, id: tokenId }), owner: TokenOwner.delete({ id: tokenId }) },
  );
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

export const createOrganization = command(z.object({ name }), async (input, { commit, now }) => {
  const { row, write } = newOrganization(input.name, now);
  await commit({ ownerId: row.id, ids: { organizationId: row.id } }, { organization: write });
  const { id, name: organizationName, createdAt } = row;
  return { organization: { id, name: organizationName, createdAt } };
});

/** Adds a member, or gives a member another role; the operator may also take the role of the last owner. */
export const addMember = command(
  z.object({ organizationId: z.string(), userId: z.string(), role: role() }),
  async (input, { table, commit, now }) => {
    const { organizationId, userId } = input;
    return retryConflicts("The member", async () => {
      const { organization, user, member } = await table.read({
        organization: Organization.at({ id: organizationId }),
        user: User.at({ id: userId }),
        member: Member.at({ organizationId, id: userId }),
      });
      if (!organization || !user) throw notFound();
      const { row: _, ...added } = memberWrites({ organization, user, role: input.role }, now);
      const writes = member ? roleChange(member, input.role, { lastOwner: "may go" }) : added;
      const outcome = await commit<Writes>({ ownerId: organizationId, ids: { userId } }, writes);
      if (outcome.ok) return { member: input };
      if (outcome.failed.totals && !outcome.failed.member) throw limitReached("members");
      return undefined;
    });
  },
);
