import { createOrganization } from "../../api/organizations.ts";
import { endpoint } from "../http/endpoint.ts";
import { userOf } from "../http/presented-credential.ts";
import { unauthorized, unavailable } from "../http/problem.ts";
import { tokenScope } from "../http/proof.ts";
import { memberWrites } from "./model/members.ts";
import { newOrganization } from "./model/organizations.ts";
import { User } from "./model/rows.ts";

export const handler = endpoint(createOrganization, async ({ body, access, credential, now, refusal }) => {
  const id = userOf(credential);
  const { user } = await access.read({ user: id ? User.at({ id }) : undefined });
  const caller = access.caller();
  // A token that is limited to some organizations would have no access to the new one.
  if (caller.kind === "user" && caller.bounds.organizationIds) throw tokenScope(["all"]);
  const refused = refusal([]);
  if (refused) throw refused;
  if (!user) throw unauthorized();
  const { row, write } = newOrganization(body.name, now);
  const reply = { organization: { id: row.id, name: row.name, role: "owner" as const } };
  const { row: _, ...member } = memberWrites({ organization: row, user, role: "owner" }, now);
  const outcome = await access.commit({ organization: write, ...member }, reply);
  if (!outcome.ok) throw unavailable(new Error("A new organization was refused"));
  return reply;
});
