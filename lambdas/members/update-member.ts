import { updateMember } from "../../api/members.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { lastOwner, memberReply, roleChange } from "../organizations/model/members.ts";
import type { Writes } from "../table/writer.ts";
import { memberAt, requireRole, roleFor, roleNamed, stillHasRole } from "./model/change.ts";

export const handler = endpoint(
  updateMember,
  async ({ params, text, body, access, refusal }) => {
    return retryConflicts("The member", async () => {
      const { member } = await access.read({ member: memberAt(params) });
      if (!member) throw notFound();
      const caller = access.caller();
      const least = roleFor(member.role, roleNamed(text));
      requireRole(caller, least);
      const refused = refusal([]);
      if (refused) throw refused;
      const { role } = body;
      const reply = { member: memberReply({ ...member, role }) };
      if (role === member.role) {
        return reply;
      }
      const isOwn = caller.kind === "user" && caller.userId === member.id;
      const outcome = await access.commit<Writes>({
        caller: isOwn ? undefined : stillHasRole(caller, params.orgId, least),
        ...roleChange(member, role, { lastOwner: "stays" }),
      });
      if (outcome.ok) return reply;
      if (outcome.failed.totals && !outcome.failed.member && !outcome.failed.caller) throw lastOwner();
      return undefined;
    });
  },
  { exists: (params) => ({ member: memberAt(params) }) },
);
