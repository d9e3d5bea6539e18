import { limits } from "../../../api/limits.ts";
import { newEvent } from "../../http/events.ts";
import { ConsoleBearer, ConsoleSession, type ConsoleSessionRow } from "../../http/model/console-session.ts";
import { Event } from "../../http/model/event.ts";
import { consoleBearer, newConsoleSecret, secretHash } from "../../http/presented-credential.ts";
import { absent } from "../../table/entity.ts";

interface User {
  id: string;
  name: string;
  email: string;
}

const after = (now: Date, seconds: number) => new Date(now.getTime() + seconds * 1000);
const ttlOf = (expires: Date) => Math.ceil(expires.getTime() / 1000);

/** A new bearer token of a session: its row, and the answer that shows it once. */
export function newBearer({ id: userId, name, email }: User, sessionId: string, now: Date) {
  const { bearerId, token } = consoleBearer(userId, sessionId);
  const expires = after(now, limits.sessionValidSeconds);
  const expiresAt = expires.toISOString();
  return {
    key: { userId, sessionId, id: bearerId },
    row: { hash: secretHash(token), expiresAt, ttl: ttlOf(expires) },
    reply: { session: { token, expiresAt, user: { id: userId, name, email } } },
  };
}

/** A user who signs in: the rows to write, the cookie's secret and the answer. */
export function newConsoleSession(user: User, action: string, userAgent: string | undefined, now: Date) {
  const { sessionId: id, secret } = newConsoleSecret(user.id);
  const expires = after(now, limits.consoleSessionValidSeconds);
  const at = now.toISOString();
  const row: ConsoleSessionRow = {
    id,
    userId: user.id,
    hash: secretHash(secret),
    userAgent: userAgent?.slice(0, 256),
    createdAt: at,
    lastUsedAt: at,
    expiresAt: expires.toISOString(),
    ttl: ttlOf(expires),
  };
  const bearer = newBearer(user, id, now);
  const event = signInEvent(user.id, action, id, now);
  return {
    secret,
    row,
    reply: bearer.reply,
    writes: {
      session: ConsoleSession.put(row, row, { pk: absent }),
      bearer: ConsoleBearer.put(bearer.key, bearer.row, { pk: absent }),
      event,
    },
  };
}

/** The event of signing in or out; it belongs to the user, because sessions belong to no organization. */
export function signInEvent(userId: string, action: string, sessionId: string, now: Date) {
  const actor = { kind: "user" as const, userId, sessionId };
  const row = newEvent({ ownerId: userId, action, actor, ids: { sessionId }, outcome: "done" }, now);
  return Event.put(row, row);
}
