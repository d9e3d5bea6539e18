import * as z from "zod";
import { isStorableText, lengthOf, resourceName, timestamp } from "./common.ts";
import { limits } from "./limits.ts";
import { createdToken } from "./me.ts";
import { route } from "./route.ts";
import { tokenBounds } from "./tokens.ts";

const signedIn = z.object({
  session: z.object({
    token: z.string(),
    expiresAt: timestamp(),
    user: z.object({ id: z.string(), name: z.string(), email: z.string() }),
  }),
});

const consoleSession = z.object({
  id: z.string(),
  createdAt: timestamp(),
  lastUsedAt: timestamp(),
  expiresAt: timestamp(),
  userAgent: z.string().nullable(),
  isCurrent: z.boolean(),
});

const text = (lengthMax: number) =>
  z.string({ error: "must be a string" }).max(lengthMax, { error: `must have at most ${lengthMax} characters` });

export const createConsoleSession = route("create-console-session", "POST /console/session", {
  summary: "Signs a user in with the code of a one-time link, and sets the console's cookie.",
  body: () => z.object({ code: text(200) }),
  reply: () => signedIn,
  status: 201,
  errors: ["foreign_origin"],
  uses: ["table:read", "table:write", "console:locate"],
  event: "commit",
  credential: "none",
  cookie: true,
});

export const getConsoleSession = route("get-console-session", "GET /console/session", {
  summary: "A fresh bearer token for the user who is signed in by the console's cookie.",
  reply: () => signedIn,
  status: 200,
  errors: ["foreign_origin"],
  uses: ["table:read", "console-sessions:renew", "console:locate"],
  credential: "none",
  cookie: true,
});

export const deleteConsoleSession = route("delete-console-session", "DELETE /console/session", {
  summary: "Signs out the user of the console's cookie.",
  reply: () => z.object({ session: z.string().nullable() }),
  status: 200,
  errors: ["foreign_origin"],
  uses: ["table:read", "table:write", "console:locate"],
  event: "commit",
  credential: "none",
  cookie: true,
});

export const listConsoleSessions = route("list-console-sessions", "GET /me/sessions", {
  summary: "Where the user is signed in to the console, newest first.",
  reply: () => z.object({ sessions: z.array(consoleSession) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
  callers: "users",
});

export const deleteConsoleSessions = route("delete-console-sessions", "DELETE /me/sessions", {
  summary: "Signs the user out everywhere.",
  reply: () => z.object({ sessions: z.array(z.string()) }),
  status: 200,
  errors: [],
  uses: ["table:read", "table:write"],
  event: "commit",
  callers: "users",
});

export const endConsoleSession = route("end-console-session", "DELETE /me/sessions/{sessionId}", {
  summary: "Signs the user out of one of the places where they are signed in.",
  reply: () => z.object({ session: z.string() }),
  status: 200,
  errors: [],
  uses: ["table:read", "table:write"],
  event: "commit",
  callers: "users",
});

const passkey = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: timestamp(),
  lastUsedAt: timestamp().nullable(),
});

/** JSON of a browser's PublicKeyCredential (WebAuthn Level 3); `@simplewebauthn/server` checks it in full. */
const credentialJson = {
  id: text(2_000),
  rawId: text(2_000),
  type: z.literal("public-key"),
  clientExtensionResults: z.looseObject({}).default({}),
};
const transport = z.enum(["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"]);

export const beginPasskey = route("begin-passkey", "POST /console/passkeys/options", {
  summary: "The options with which a browser makes a passkey for the user who is signed in.",
  reply: () => z.object({ options: z.looseObject({ challenge: z.string() }) }),
  status: 200,
  errors: ["sign_in_needed", "limit_reached"],
  uses: ["table:read", "table:write", "console:locate"],
  event: { none: "A challenge changes nothing." },
  callers: "users",
});

export const createPasskey = route("create-passkey", "POST /console/passkeys", {
  summary: "Adds the passkey that the browser made.",
  body: () =>
    z.object({
      name: resourceName(),
      response: z.object({
        ...credentialJson,
        response: z.object({
          clientDataJSON: text(10_000),
          attestationObject: text(100_000),
          transports: z.array(transport).max(10).optional().catch(undefined),
        }),
      }),
    }),
  reply: () => z.object({ passkey }),
  status: 201,
  errors: ["sign_in_needed", "limit_reached"],
  uses: ["table:read", "table:write", "console:locate"],
  event: "commit",
  callers: "users",
});

export const beginPasskeySignIn = route("begin-passkey-sign-in", "POST /console/passkeys/sign-in-options", {
  summary: "The options with which a browser signs in with a passkey.",
  reply: () => z.object({ options: z.looseObject({ challenge: z.string() }) }),
  status: 200,
  errors: ["foreign_origin"],
  uses: ["table:write", "console:locate"],
  event: { none: "A challenge changes nothing." },
  credential: "none",
});

export const signInWithPasskey = route("sign-in-with-passkey", "POST /console/passkeys/sign-in", {
  summary: "Signs a user in with a passkey, and sets the console's cookie.",
  body: () =>
    z.object({
      response: z.object({
        ...credentialJson,
        response: z.object({
          clientDataJSON: text(10_000),
          authenticatorData: text(10_000),
          signature: text(10_000),
          userHandle: text(200).optional(),
        }),
      }),
    }),
  reply: () => signedIn,
  status: 201,
  errors: ["foreign_origin"],
  uses: ["table:read", "table:write", "console:locate"],
  event: "commit",
  credential: "none",
  cookie: true,
});

export const listPasskeys = route("list-passkeys", "GET /me/passkeys", {
  summary: "The passkeys of the user, newest first.",
  reply: () => z.object({ passkeys: z.array(passkey) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
  callers: "users",
});

export const deletePasskey = route("delete-passkey", "DELETE /me/passkeys/{passkeyId}", {
  summary: "Deletes a passkey; it can no longer be used to sign in.",
  reply: () => z.object({ passkey: z.string() }),
  status: 200,
  errors: [],
  uses: ["table:read", "table:write"],
  event: "commit",
  callers: "users",
});

/** Control characters and marks that change the direction of writing could make a name look like another one. */
const isPlainName = (name: string) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name);

const toolName = z
  .string({ error: "must be a string" })
  .transform((name) => name.trim())
  .refine((name) => name !== "", { error: "must not be empty" })
  .refine((name) => lengthOf(name) <= limits.toolNameLengthMax, {
    error: `must have at most ${limits.toolNameLengthMax} characters`,
  })
  .refine((name) => isStorableText(name) && isPlainName(name), {
    error: "must have no control characters and no invisible ones",
  });

export const createConnectionCode = route("create-connection-code", "POST /console/connect", {
  summary: "A code with which a tool gets a personal access token, once, after its user agreed in the console.",
  body: () =>
    z.object({
      challenge: z
        .string({ error: "must be a string" })
        .regex(/^[\w-]{43}$/, { error: "must be the SHA-256 of the verifier in base64url (PKCE, S256)" }),
      tool: toolName,
      access: tokenBounds.access,
      organizationIds: tokenBounds.organizationIds.nullable(),
    }),
  reply: () => z.object({ code: z.string(), expiresAt: timestamp() }),
  status: 201,
  errors: ["sign_in_needed"],
  uses: ["table:read", "table:write"],
  event: { none: "The change is the token, which connect-tool records." },
  callers: "users",
});

export const connectTool = route("connect-tool", "POST /console/connect/token", {
  summary: "Exchanges a code of the console for a personal access token.",
  body: () => z.object({ code: text(200), verifier: text(128) }),
  reply: () => createdToken,
  status: 201,
  errors: [],
  uses: ["table:read", "table:write"],
  event: "commit",
  credential: "none",
});
