import { deleteConsoleSession } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { ConsoleSession } from "../http/model/console-session.ts";
import { readConsoleSecret } from "../http/presented-credential.ts";
import { signInEvent } from "./model/console-session.ts";
import { noSessionCookie, refuseForeignOrigin, secretFrom } from "./model/cookie.ts";

/** Signing out also succeeds with an old cookie or none; the browser deletes the cookie in any case. */
export const handler = endpoint(
  deleteConsoleSession,
  async ({ headers, cookies, now, setCookie }, { table, console }) => {
    refuseForeignOrigin(headers);
    setCookie(noSessionCookie(console));
    const presented = readConsoleSecret(secretFrom(cookies));
    if (!presented) return { session: null };
    const { userId, sessionId: id, hash } = presented;
    const outcome = await table.write({
      session: ConsoleSession.delete({ userId, id }, { hash }),
      event: signInEvent(userId, deleteConsoleSession.id, id, now),
    });
    return { session: outcome.ok ? id : null };
  },
);
