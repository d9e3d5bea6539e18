import { createConnectionCode } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { userOf } from "../http/presented-credential.ts";
import { unauthorized, unavailable } from "../http/problem.ts";
import { foreignOrganization, membershipsOf } from "../me/model/limited-to.ts";
import { newCode } from "./model/connection-code.ts";

/** The code gives a token of the user, who agrees to it in the console. */
export const handler = endpoint(createConnectionCode, async ({ body, access, credential, now }) => {
  const { challenge, tool, access: allowed } = body;
  const wanted = body.organizationIds ?? [];
  const memberships = await access.read(membershipsOf(userOf(credential) ?? "none", wanted));
  if (credential.kind !== "console") throw unauthorized();
  const refused = foreignOrganization(wanted, memberships);
  if (refused) throw refused;
  const { userId, sessionId } = credential;
  const only = wanted.length > 0 ? { organizationIds: wanted } : {};
  const { code, expiresAt, write } = newCode({ userId, sessionId, challenge, tool, access: allowed, ...only }, now);
  const outcome = await access.commit({ code: write });
  if (!outcome.ok) throw unavailable(new Error("A new code was refused"));
  return { code, expiresAt };
});
