import * as z from "zod";
import { timestamp } from "./common.ts";
import { route } from "./route.ts";

const signedIn = z.object({
  session: z.object({
    token: z.string(),
    expiresAt: timestamp,
    user: z.object({ id: z.string(), name: z.string(), email: z.string() }),
  }),
});

const consoleSession = z.object({
  id: z.string(),
  createdAt: timestamp,
  lastUsedAt: timestamp,
  expiresAt: timestamp,
  userAgent: z.string().nullable(),
  isCurrent: z.boolean(),
});

const text = (lengthMax: number) =>
  z.string({ error: "must be a string" }).max(lengthMax, { error: `must have at most ${lengthMax} characters` });

export const createConsoleSession = route("create-console-session", "POST /console/session", {
  summary: "Signs a user in with the code of a one-time link, and sets the console's cookie.",
  body: z.object({ code: text(200) }),
  reply: signedIn,
  status: 201,
  errors: ["foreign_origin"],
  uses: ["table:read", "table:write", "console:locate"],
  event: "commit",
  credential: "none",
  cookie: true,
});

export const getConsoleSession = route("get-console-session", "GET /console/session", {
  summary: "A fresh bearer token for the user who is signed in by the console's cookie.",
  reply: signedIn,
  status: 200,
  errors: ["foreign_origin"],
  uses: ["table:read", "console-sessions:renew", "console:locate"],
  credential: "none",
  cookie: true,
});

export const deleteConsoleSession = route("delete-console-session", "DELETE /console/session", {
  summary: "Signs the user out whom the console's cookie signed in.",
  reply: z.object({ session: z.string().nullable() }),
  status: 200,
  errors: ["foreign_origin"],
  uses: ["table:read", "table:write", "console:locate"],
  event: "commit",
  credential: "none",
  cookie: true,
});

export const listConsoleSessions = route("list-console-sessions", "GET /me/sessions", {
  summary: "Where the user is signed in to the console, newest first.",
  reply: z.object({ sessions: z.array(consoleSession) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
  callers: "users",
});

export const deleteConsoleSessions = route("delete-console-sessions", "DELETE /me/sessions", {
  summary: "Signs the user out everywhere.",
  reply: z.object({ sessions: z.array(z.string()) }),
  status: 200,
  errors: [],
  uses: ["table:read", "table:write"],
  event: "commit",
  callers: "users",
});

export const endConsoleSession = route("end-console-session", "DELETE /me/sessions/{sessionId}", {
  summary: "Signs the user out of one of the places where they are signed in.",
  reply: z.object({ session: z.string() }),
  status: 200,
  errors: [],
  uses: ["table:read", "table:write"],
  event: "commit",
  callers: "users",
});
