import { deleteConsoleSessions } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { ConsoleSession } from "../http/model/console-session.ts";
import { userOf } from "../http/presented-credential.ts";
import { sessionsOf } from "./model/sessions-of.ts";

const deletedAtOnce = 90;

/** The caller's own session is the last to be deleted, so that a request that stops half-way can be sent again. */
export const handler = endpoint(deleteConsoleSessions, async ({ access, credential, now }, { table }) => {
  const userId = userOf(credential) ?? "none";
  const [, sessions] = await Promise.all([access.read(), sessionsOf(table, userId, now)]);
  const current = credential.kind === "console" ? credential.sessionId : undefined;
  const ids = sessions.map(({ id }) => id).sort((one, other) => Number(one === current) - Number(other === current));
  for (let start = 0; start < ids.length; start += deletedAtOnce) {
    const some = ids.slice(start, start + deletedAtOnce);
    const writes = Object.fromEntries(some.map((id) => [id, ConsoleSession.delete({ userId, id })]));
    await access.commit(writes, undefined, { sessions: some.map((id) => ({ id })) });
  }
  return { sessions: ids };
});
