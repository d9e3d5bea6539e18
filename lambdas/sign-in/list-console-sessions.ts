import { listConsoleSessions } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { userOf } from "../http/presented-credential.ts";
import { sessionsOf } from "./model/sessions-of.ts";

export const handler = endpoint(listConsoleSessions, async ({ access, credential, now }, { table }) => {
  const userId = userOf(credential) ?? "none";
  const [, sessions] = await Promise.all([access.read(), sessionsOf(table, userId, now)]);
  const current = credential.kind === "console" ? credential.sessionId : undefined;
  return {
    sessions: sessions
      .sort((one, other) => other.createdAt.localeCompare(one.createdAt))
      .map(({ id, createdAt, lastUsedAt, expiresAt, userAgent }) => ({
        id,
        createdAt,
        lastUsedAt,
        expiresAt,
        userAgent: userAgent ?? null,
        isCurrent: id === current,
      })),
  };
});
