import { getMe } from "../../api/me.ts";
import { endpoint } from "../http/endpoint.ts";
import { userOf } from "../http/presented-credential.ts";
import { organizationsOf } from "../organizations/model/organizations.ts";
import { User } from "../organizations/model/rows.ts";

export const handler = endpoint(getMe, async (call, { table }) => {
  const id = userOf(call.credential);
  const { rows, organizations } = await organizationsOf(call, table, { user: id ? User.at({ id }) : undefined });
  const { user } = rows;
  const caller = call.access.caller();
  // What the credential is for, so that a client can offer only what it may do.
  call.header("x-slipway-access", caller.kind === "user" ? caller.bounds.access : "all");
  return { user: user ? { id: user.id, name: user.name, email: user.email } : null, organizations };
});
