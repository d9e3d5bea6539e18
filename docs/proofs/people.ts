import type { Proofs } from "./proof.ts";

const accessRules = "test/api/access-rules.test.ts";
const apiPage = "test/unit/docs/api-page.test.ts";
const commandLine = "test/api/command-line.test.ts";
const connectRequest = "test/unit/console/connect-request.test.ts";
const connectTool = "test/api/connect-tool.test.ts";
const consoleSignIn = "test/console/sign-in.ts";
const events = "test/api/events.test.ts";
const link = "test/unit/lambdas/sign-in/link.test.ts";
const login = "test/unit/cli/login.test.ts";
const me = "test/api/organizations/me.test.ts";
const members = "test/api/organizations/members.test.ts";
const organization = "test/console/organization.ts";
const passkeys = "test/console/passkeys.ts";
const projects = "test/api/organizations/projects.test.ts";
const references = "test/unit/docs/references.test.ts";
const samples = "test/api/samples.test.ts";
const signIn = "test/api/sign-in.test.ts";

export const peopleProofs: Proofs = {
  "Sign-in": {
    "A user signs": [
      [signIn, "a link leads to the console on localhost, and is valid for 15 minutes"],
      [signIn, "an invitation signs the new member in once, and not after the member was removed or after seven days"],
    ],
    "The link is": [[link, "a sign-in link carries its code in the fragment, and its row holds the code's hash only"]],
    "The code is in": [
      [link, "a sign-in link carries its code in the fragment, and its row holds the code's hash only"],
      [consoleSignIn, "a one-time link signs in, leaves no code in the address, and leads to the projects"],
    ],
    "A code that is unknown, old": [
      [signIn, "a code that is unknown, malformed or missing does not sign a user in"],
      [signIn, "an expired code is refused although its row still exists"],
      [signIn, "a code works once, also for requests at the same time"],
    ],
    "The cookie is": [
      [signIn, "a code gives a bearer that counts as the user, and a cookie that only the session's route gets"],
    ],
    "Only the three": [[signIn, "no cookie, another's and a changed one are a 401; the API itself reads none"]],
    "The token is": [
      [signIn, "a code gives a bearer that counts as the user, and a cookie that only the session's route gets"],
    ],
    "Signing out ends": [
      [signIn, "the cookie gives fresh bearers until the user signs out, which ends them all at once"],
    ],
    "These routes refuse": [[signIn, "a page with %s can neither sign in, refresh nor sign out"]],
    "A passkey (WebAuthn)": [[passkeys, "a token cannot add a passkey, and a challenge for one user is no other's"]],
    "A passkey belongs": [
      [passkeys, "a user adds a passkey, signs in with it, and deletes it"],
      [
        passkeys,
        "a response with another signature, challenge or user, or without the user's verification, is refused",
      ],
    ],
    "Locally this is": [[signIn, "a link leads to the console on localhost, and is valid for 15 minutes"]],
    "A user has": [
      [passkeys, "a user has at most 20"],
      [passkeys, "the limit holds for passkeys that are added at the same time"],
    ],
    "A tool such": [
      [login, "login through the browser exchanges the code of its own page for a token, which logout deletes"],
      [commandLine, "login gets a token of the agreed access through the console, and logout deletes it"],
    ],
    "The tool makes": [
      [login, "login through the browser exchanges the code of its own page for a token, which logout deletes"],
      [connectRequest, "names the tool, the access and where it waits"],
      [connectTool, "%s is a 400"],
    ],
    "The page shows": [
      [organization, "a tool on this computer gets the code or the refusal at its own address"],
      [connectRequest, "names the tool, the access and where it waits"],
    ],
    "If the user": [[organization, "a tool on this computer gets the code or the refusal at its own address"]],
    "Everything else is": [
      [connectTool, "only the console agrees: not a token, which could widen its own access, and not a key"],
    ],
    "`organizationIds` names organizations": [
      [connectTool, "organizations that are not the user's cannot be agreed to"],
      [connectTool, "without limits the token reaches everything that the user reaches"],
    ],
    "The page then": [
      [organization, "a tool on this computer gets the code or the refusal at its own address"],
      [organization, "a tool without a browser gets a code to type in, for the access that was agreed to"],
      [connectRequest, "is answered in the query, beside what the tool had there"],
    ],
    "The tool sends": [
      [connectTool, "a code is valid for five minutes and gives a token of the access that the user agreed to"],
    ],
    "The code is deleted": [
      [connectTool, "a code is valid for five minutes and gives a token of the access that the user agreed to"],
      [connectTool, "of many requests with one code one gets a token, and later ones none"],
    ],
    "A code that is unknown, used": [
      [connectTool, "an unknown code, an expired one, and one whose user signed out are the same 401"],
      [connectTool, "a wrong verifier gets nothing, and the right one still gets the token"],
    ],
    "| `POST /console/session`": [
      [signIn, "a code gives a bearer that counts as the user, and a cookie that only the session's route gets"],
    ],
    "| `GET /console/session`": [
      [signIn, "the cookie gives fresh bearers until the user signs out, which ends them all at once"],
      [signIn, "no cookie, another's and a changed one are a 401; the API itself reads none"],
    ],
    "| `DELETE /console/session`": [
      [signIn, "the cookie gives fresh bearers until the user signs out, which ends them all at once"],
      [signIn, "no cookie, another's and a changed one are a 401; the API itself reads none"],
    ],
    "| `GET /me/sessions`": [[signIn, "a user sees where they are signed in, and ends one session or all"]],
    "| `DELETE /me/sessions`": [[signIn, "a user sees where they are signed in, and ends one session or all"]],
    "| `DELETE /me/sessions/{sessionId}`": [
      [signIn, "a user sees where they are signed in, and ends one session or all"],
      [signIn, "a user cannot end another user's session"],
    ],
    "| `POST /console/passkeys/options`": [
      [passkeys, "a user adds a passkey, signs in with it, and deletes it"],
      [
        passkeys,
        "a response with another signature, challenge or user, or without the user's verification, is refused",
      ],
    ],
    "| `POST /console/passkeys`": [[passkeys, "a user adds a passkey, signs in with it, and deletes it"]],
    "| `POST /console/passkeys/sign-in-options`": [
      [passkeys, "a user adds a passkey, signs in with it, and deletes it"],
      [
        passkeys,
        "a response with another signature, challenge or user, or without the user's verification, is refused",
      ],
    ],
    "| `POST /console/passkeys/sign-in`": [[passkeys, "a user adds a passkey, signs in with it, and deletes it"]],
    "| `POST /console/connect`": [
      [connectTool, "a code is valid for five minutes and gives a token of the access that the user agreed to"],
      [connectTool, "of many requests with one code one gets a token, and later ones none"],
    ],
    "| `POST /console/connect/token`": [
      [connectTool, "a code is valid for five minutes and gives a token of the access that the user agreed to"],
    ],
    "| `GET /me/passkeys`": [[passkeys, "a user adds a passkey, signs in with it, and deletes it"]],
    "| `DELETE /me/passkeys/{passkeyId}`": [[passkeys, "a user adds a passkey, signs in with it, and deletes it"]],
  },
  Events: {
    "`GET /organizations/{orgId}/events` lists": [
      [events, "tell who changed what, newest first, and contain no value"],
    ],
    "`action` is the": [[events, "tell who changed what, newest first, and contain no value"]],
    "`actor` is `{kind:": [[events, "tell who changed what, newest first, and contain no value"]],
    "`ids` names what": [
      [events, "tell who changed what, newest first, and contain no value"],
      [
        events,
        "name the hundred files of one request, which fill its transaction, with and without an Idempotency-Key",
      ],
    ],
    "`outcome` is `done`.": [[events, "tell who changed what, newest first, and contain no value"]],
    "For changes of": [
      [events, "tell a table's change before it is made, and its outcome after"],
      [events, "a table is not changed when its event cannot be recorded, and changed when only the outcome cannot be"],
    ],
    "Events are kept": [
      [events, "older than a year are not shown, whether DynamoDB has deleted them or not"],
      [events, "contain a new key's id and access, never its secret"],
      [events, "tell who changed what, newest first, and contain no value"],
    ],
    "Rows of tables": [[events, "are not written for rows of tables"]],
    "| `GET /organizations/{orgId}/events`": [
      [events, "page by a cursor of this list, and no other cursor or limit is accepted"],
    ],
  },
  "The caller": {
    "A token is": [[me, "are made, listed without their values, used and revoked"]],
    "`organizationIds` is null": [[me, "have access to everything unless they are limited"]],
    "See Personal access": [
      [references, "every reference to a page leads to a page, and to a heading where it names one"],
    ],
    "A description has": [
      [me, "have access to everything unless they are limited"],
      [me, "%j is a 400"],
    ],
    "`access` is `read`,": [[me, "have access to everything unless they are limited"]],
    "`organizationIds` names at": [[me, "%j is a 400"]],
    "`expiresInDays` is 1": [[me, "%j is a 400"]],
    "A token that": [[me, "one that is created with a limited token has at most its organizations and its validity"]],
    "Such a token": [[me, "one that is created with a limited token has at most its organizations and its validity"]],
    "Keys and sessions": [[accessRules, "%s: a key and an app's session are a 403"]],
    "| `GET /me`": [
      [me, "has the user with all organizations and roles, and a null user for a key or an app's session"],
    ],
    "| `GET /me/tokens`": [
      [me, "are made, listed without their values, used and revoked"],
      [me, "of another user do not exist"],
    ],
    "| `POST /me/tokens`": [
      [me, "are made, listed without their values, used and revoked"],
      [me, "a repeated request answers without the value, and the first token stays the only one"],
    ],
    "| `DELETE /me/tokens/{tokenId}`": [[me, "are made, listed without their values, used and revoked"]],
  },
  Organizations: {
    "An organization is": [[me, "belongs to the user who created it, and a new name is shown to every member"]],
    "Admins rename it.": [
      [members, "an admin changes admins and members, and an owner changes owners"],
      [accessRules, "%s: a lesser role is a 403 that names the one it takes"],
    ],
    "A token for": [[accessRules, "%s: a token that was not made for it is a 403"]],
    "| `POST /organizations`": [[me, "belongs to the user who created it, and a new name is shown to every member"]],
    "| `GET /organizations/{orgId}`": [
      [me, "belongs to the user who created it, and a new name is shown to every member"],
    ],
    "| `PUT /organizations/{orgId}`": [
      [me, "belongs to the user who created it, and a new name is shown to every member"],
    ],
  },
  Members: {
    "Below `/organizations/{orgId}/members`.": [
      [samples, "%s: its samples work"],
      [apiPage, "the page of the interface names every route and no other"],
    ],
    "Changes need the": [
      [members, "an admin changes admins and members, and an owner changes owners"],
      [members, "only an owner grants the role owner, which is checked before the input"],
      [accessRules, "%s: a lesser role is a 403 that names the one it takes"],
    ],
    "A member is": [[members, "a new user gets a one-time link for seven days, and is listed"]],
    "An `email` has": [
      [members, "%j is a 400"],
      [members, "one address invited many times at once makes one user and one member"],
    ],
    "A user who": [[members, "a user who exists becomes a member at once and keeps their name"]],
    "Otherwise the user": [
      [members, "a new user gets a one-time link for seven days, and is listed"],
      [members, "a repeated request answers without the link"],
    ],
    "The link becomes": [
      [signIn, "an invitation signs the new member in once, and not after the member was removed or after seven days"],
    ],
    "A second membership": [[members, "a user who exists becomes a member at once and keeps their name"]],
    "The last owner": [
      [members, "every member may leave, except the last owner; only admins remove others, only owners remove owners"],
      [members, "two owners who demote each other at once leave one"],
    ],
    "A removed user": [
      [members, "a member leaves the managers' lists, and their tokens reach the organization no more"],
    ],
    "| `GET` |": [[members, "a new user gets a one-time link for seven days, and is listed"]],
    "| `POST` |": [[members, "a new user gets a one-time link for seven days, and is listed"]],
    "| `PUT /{userId}`": [[members, "an admin changes admins and members, and an owner changes owners"]],
    "| `DELETE /{userId}`": [
      [members, "every member may leave, except the last owner; only admins remove others, only owners remove owners"],
    ],
  },
  Names: {
    "Organizations, projects, databases": [
      [me, "is not named %j"],
      [me, "a name has up to 128 characters, however many bytes they have"],
      [me, "belongs to the user who created it, and a new name is shown to every member"],
      [projects, "are not made of %j"],
    ],
    "Names need not": [
      [projects, "page newest first, and a cursor belongs to its list"],
      [projects, "%s are made, listed oldest first and renamed, at most 50"],
    ],
  },
};
