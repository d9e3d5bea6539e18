import { limits } from "../../api/limits.ts";
import { type Route, recordsEvents } from "../../api/route.ts";
import { newId } from "../table/ids.ts";
import type { EventRow } from "./model/event.ts";
import type { PresentedCredential } from "./presented-credential.ts";

/** The data of a request's event in addition to its caller. */
export interface Change {
  /** The route's id. */
  action: string;
  /** The ids in the path; those of what the request makes are added. */
  ids: Readonly<Record<string, string | string[] | undefined>>;
}

/** The change that a route makes, if it declares that its events are recorded. */
export function changeOf(route: Route, ids: Change["ids"]): Change | undefined {
  return recordsEvents(route) ? { action: route.id, ids } : undefined;
}

/** A caller, named by ids only. */
export function actorOf(credential: PresentedCredential): EventRow["actor"] {
  switch (credential.kind) {
    case "key":
      return { kind: "key", access: credential.access };
    case "token":
      return { kind: "user", userId: credential.userId, tokenId: credential.tokenId };
    case "console":
      return { kind: "user", userId: credential.userId, sessionId: credential.sessionId };
    case "session": {
      const { sessionId, origin } = credential;
      return "access" in origin
        ? { kind: "key", access: origin.access, sessionId }
        : { kind: "app", projectId: origin.projectId, sessionId };
    }
  }
}

const idOf = (value: unknown): string | undefined => {
  if (typeof value !== "object" || value === null || !("id" in value)) return undefined;
  return typeof value.id === "string" || typeof value.id === "number" ? String(value.id) : undefined;
};

/** The ids of the resources in an answer: `buildId` for `{build: {id}}`, `fileIds` for `{files: [{id}]}`; no other field is used. */
export function idsIn(reply: unknown): EventRow["ids"] {
  if (typeof reply !== "object" || reply === null) return {};
  const ids = Object.entries(reply).flatMap(([name, value]): [string, string | string[]][] => {
    if (Array.isArray(value)) {
      const all = value.flatMap((one) => idOf(one) ?? []);
      return all.length > 0 ? [[`${name.replace(/s$/, "")}Ids`, all]] : [];
    }
    const id = idOf(value);
    return id === undefined ? [] : [[`${name}Id`, id]];
  });
  return Object.fromEntries(ids);
}

/** A new event of an owner. */
export function newEvent(
  event: Pick<EventRow, "ownerId" | "action" | "actor" | "ids" | "outcome">,
  now: Date,
): EventRow {
  const expires = new Date(now.getTime() + limits.eventsKeptDays * 24 * 3600 * 1000);
  return {
    id: newId("evt", now),
    ...event,
    at: now.toISOString(),
    expiresAt: expires.toISOString(),
    ttl: Math.ceil(expires.getTime() / 1000),
  };
}

/** The event of a request: of the organization in its path or that it makes, else of the user who made it. */
export function eventOf(
  { action, ids }: Change,
  request: { credential: PresentedCredential; orgId?: string | undefined; now: Date },
  reply: unknown,
  outcome: EventRow["outcome"],
): EventRow {
  const { credential, orgId, now } = request;
  const { orgId: _, ...inPath } = ids;
  const made = idsIn(reply);
  const makes = typeof made.organizationId === "string" ? made.organizationId : undefined;
  const owner = orgId ?? makes ?? ("userId" in credential ? credential.userId : credential.organizationId);
  const named = Object.entries(inPath).flatMap(([name, id]) => (id === undefined ? [] : [[name, id] as const]));
  return newEvent(
    { ownerId: owner, action, actor: actorOf(credential), ids: { ...made, ...Object.fromEntries(named) }, outcome },
    now,
  );
}
