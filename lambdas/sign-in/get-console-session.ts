import { getConsoleSession } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { ConsoleBearer, ConsoleSession } from "../http/model/console-session.ts";
import { readConsoleSecret, sameHash } from "../http/presented-credential.ts";
import { unauthorized } from "../http/problem.ts";
import { User } from "../organizations/model/rows.ts";
import { newBearer } from "./model/console-session.ts";
import { refuseForeignOrigin, secretFrom } from "./model/cookie.ts";

export const handler = endpoint(getConsoleSession, async ({ headers, cookies, now }, { table, consoleSessions }) => {
  refuseForeignOrigin(headers);
  const presented = readConsoleSecret(secretFrom(cookies));
  if (!presented) throw unauthorized();
  const { userId, sessionId: id, hash } = presented;
  const { session, user } = await table.read({
    session: ConsoleSession.at({ userId, id }),
    user: User.at({ id: userId }),
  });
  if (!session || !user || !sameHash(session.hash, hash) || session.expiresAt <= now.toISOString()) {
    throw unauthorized();
  }
  const bearer = newBearer(user, id, now);
  await Promise.all([
    consoleSessions.update(ConsoleBearer.update(bearer.key, { set: bearer.row })),
    // The condition prevents that a session that was signed out in the meantime is created again.
    consoleSessions.update(ConsoleSession.update({ userId, id }, { set: { lastUsedAt: now.toISOString() } }, { hash })),
  ]);
  return bearer.reply;
});
