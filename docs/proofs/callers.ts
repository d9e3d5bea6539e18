import type { Proofs } from "./proof.ts";

const access = "test/local/http/access.test.ts";
const accessRules = "test/api/access-rules.test.ts";
const apiSettings = "test/unit/api/settings.test.ts";
const connectTool = "test/api/connect-tool.test.ts";
const containers = "test/pipeline/containers.test.ts";
const credentials = "test/local/http/credentials.test.ts";
const deployment = "test/pipeline/backends/deployment.ts";
const documents = "test/api/documents.test.ts";
const idempotency = "test/api/faults/idempotency.test.ts";
const identity = "test/pipeline/faults/identity.test.ts";
const identityProof = "test/local/sts/identity-proof.test.ts";
const managers = "test/api/faults/managers.test.ts";
const mcp = "test/api/mcp.test.ts";
const me = "test/api/organizations/me.test.ts";
const members = "test/api/organizations/members.test.ts";
const openapi = "test/unit/api/openapi.test.ts";
const passkeys = "test/console/passkeys.ts";
const presentedCredential = "test/unit/lambdas/http/presented-credential.test.ts";
const projects = "test/api/organizations/projects.test.ts";
const proof = "test/unit/lambdas/http/proof.test.ts";
const readme = "test/e2e/readme.test.ts";
const roundTrips = "test/api/round-trips.test.ts";
const samples = "test/api/samples.test.ts";
const schema = "test/api/tables/schema.test.ts";
const security = "test/api/security.test.ts";
const slipway = "test/unit/sdk/slipway.test.ts";

export const callersProofs: Proofs = {
  Authentication: {
    "`Authorization: Bearer <ACCESS_KEY>:<SECRET_KEY>`:": [
      [security, "answers 401 to a missing, malformed, unknown or wrong credential, with one body for all"],
      [presentedCredential, "is a key in one header or in two, a token or a session"],
    ],
    "The older headers": [[security, "accepts the older headers, and lets Authorization win over them"]],
    "If there is": [[security, "accepts the older headers, and lets Authorization win over them"]],
    "`Authorization: Bearer <TOKEN>`": [
      [presentedCredential, "is a key in one header or in two, a token or a session"],
      [
        identity,
        "and gets a session of its organization that is valid for ten minutes and has the permissions of a key",
      ],
      [me, "are made, listed without their values, used and revoked"],
    ],
    "Every route needs": [
      [security, "answers 401 to a missing, malformed, unknown or wrong credential, with one body for all"],
    ],
    "The only exceptions": [
      [security, "create-session checks the credential before it validates the body %s"],
      [security, "an unknown route is a 404 in the same shape"],
      [
        identity,
        "and gets a session of its organization that is valid for ten minutes and has the permissions of a key",
      ],
    ],
    "A key belongs": [
      [security, "answers the 404 of a missing resource for everything that is another's"],
      [schema, "is every key and user of the organization, and no other caller"],
    ],
    "A personal access": [
      [me, "have access to everything unless they are limited"],
      [accessRules, "the list of organizations has only those that the token is for"],
    ],
    "Keys and tokens": [
      [presentedCredential, "has its kind's prefix and form, and is never the same twice"],
      [presentedCredential, "ends in a checksum of the rest, in seven characters"],
      [presentedCredential, "is none after any typing error"],
    ],
    "The service stores": [
      [presentedCredential, "is SHA-256 in base64url, and compares by all of it"],
      [credentials, "are made with a secret that is stored as its hash alone, and listed without it"],
    ],
    "A revoked key": [
      [idempotency, "means nothing to a session's creation, to a read, or once the caller's key is revoked"],
      [credentials, "end with their deletion, once"],
    ],
    "`lastUsedAt` only increases": [
      [access, "moves forward only, is recorded once a minute, and not for a bad credential"],
      [access, "is recorded to the minute: of an app key in the project's list too, of a token alone"],
    ],
    "Recording it never": [
      [access, "is recorded by a write too"],
      [roundTrips, "round trips to the table"],
    ],
    "A deployed app": [
      [containers, "an app calls the API of its own organization without any key"],
      [readme, "an app with the SDK calls the service as itself, without a key"],
    ],
    "An app without": [
      [
        slipway,
        "the credential comes from the options, then the app's key, then the command line's key, then its saved login",
      ],
      [deployment, "variables reach the app unchanged, but only after a rebuild"],
    ],
  },
  Roles: {
    "*Keys and sessions": [
      [me, "a key has no role in it, and may rename it"],
      [accessRules, "%s: a key and an app's session are a 403"],
      [projects, "a project has at most ten, and a domain belongs to one project, also with requests at the same time"],
    ],
    "*Members* use everything": [
      [accessRules, "%s: a lesser role is a 403 that names the one it takes"],
      [projects, "are made with all settings, read and changed field by field"],
    ],
    "*Admins* also rename": [
      [members, "an admin changes admins and members, and an owner changes owners"],
      [accessRules, "%s: a lesser role is a 403 that names the one it takes"],
    ],
    "*Owners* also grant": [
      [members, "only an owner grants the role owner, which is checked before the input"],
      [members, "an admin changes admins and members, and an owner changes owners"],
    ],
    "A user whose": [
      [accessRules, "%s: a lesser role is a 403 that names the one it takes"],
      [members, "only an owner grants the role owner, which is checked before the input"],
    ],
  },
  "Personal access tokens": {
    "A token can": [[me, "have access to everything unless they are limited"]],
    "Its `access` is": [
      [
        accessRules,
        "a token for deployments creates, cancels, rebuilds and redeploys builds, and changes nothing else",
      ],
      [accessRules, "a token made with access %s may read"],
      [proof, "a token may do to itself what its access does not allow, and to no other"],
      [connectTool, "a code is valid for five minutes and gives a token of the access that the user agreed to"],
    ],
    "With `organizationIds` it": [
      [accessRules, "the list of organizations has only those that the token is for"],
      [accessRules, "%s: an organization that the token is not for does not exist"],
    ],
    "After its `expiresAt`": [[accessRules, "an expired token is a 401, in a read and in a write"]],
  },
  "Managing members": {
    "A project can": [[projects, "are a list of members of the organization, an empty list, or every member (null)"]],
    "Create build, rebuild": [
      [managers, "POST %s by an owner who is not on the list: 403 that names the managers"],
      [managers, "the listed member and any key create builds; the owner still reads, cancels and sets variables"],
    ],
    "Keys and sessions": [
      [managers, "the listed member and any key create builds; the owner still reads, cancels and sets variables"],
      [proof, "where only the managers may: every other user is refused, and no key or session"],
    ],
  },
  Sessions: {
    "`POST /sessions` with": [
      [
        identity,
        "and gets a session of its organization that is valid for ten minutes and has the permissions of a key",
      ],
      [samples, "%s: its samples work"],
    ],
    "The token is": [
      [
        identity,
        "and gets a session of its organization that is valid for ten minutes and has the permissions of a key",
      ],
      [identity, "a session of a key stays valid after the key is deleted, and expires"],
    ],
    "With a key": [[identity, "a session of a key stays valid after the key is deleted, and expires"]],
    "With `proof: {url,": [
      [
        identity,
        "and gets a session of its organization that is valid for ten minutes and has the permissions of a key",
      ],
      [
        identityProof,
        "a proof from the SDK identifies its task, and STS gets the headers of the proof with the body's length",
      ],
      [identityProof, "a proof with a valid signature that does not cover our host is refused"],
    ],
    "The service sends": [
      [
        identityProof,
        "a proof from the SDK identifies its task, and STS gets the headers of the proof with the body's length",
      ],
    ],
    "Everything else is": [
      [security, "create-session checks the credential before it validates the body %s"],
      [identity, "not with a proof %s: 401"],
      [identity, "a malformed proof is answered with 400 or 401, never with 500"],
    ],
    "A session that": [[identity, "a session of a key stays valid after the key is deleted, and expires"]],
  },
  Documents: {
    "Four pages need": [
      [documents, "the OpenAPI document needs no credential, and is the contract's own"],
      [documents, "%s is not sent again to a client that has it"],
    ],
    "Each has an": [[documents, "%s is not sent again to a client that has it"]],
    "`/openapi.json`: the interface": [
      [documents, "the OpenAPI document needs no credential, and is the contract's own"],
      [openapi, "the OpenAPI document holds every route under its own id, with its status and its path's parameters"],
      [samples, "every operation has samples"],
    ],
    "`/docs`: every route": [
      [documents, "the reference page names every route, loads no other file, and has at most 60 KB compressed"],
      [documents, "the reference page shows the type of every answer, and the query of every list with pages"],
      [passkeys, "the reference page sends a request that is tried from it, and shows the answer or what is wrong"],
    ],
    "`/slipway.schema.json`: the JSON": [
      [documents, "the schema of slipway.json says what each setting is, and refuses unknown ones"],
    ],
    "An editor completes": [
      [apiSettings, "the JSON Schema for editors describes every setting and refuses other fields"],
    ],
    "`/llms.txt`: the interface": [
      [documents, "the short text for language models names every route and how to deploy"],
    ],
  },
  "Language models": {
    "`POST /mcp` is": [[mcp, "the official client sees every tool, with hints, in at most 3,000 tokens"]],
    "It takes the": [
      [
        mcp,
        "an agent makes a project, deploys a broken app, reads the diagnosis, sets the variable, rebuilds it and sees it live",
      ],
      [mcp, "a token made for reading sees only tools that read"],
    ],
    "A request whose": [[mcp, "bad input is answered by the protocol, never with a 5xx"]],
    "`GET /me` answers": [[accessRules, "a token made with access %s may read"]],
  },
  "Service checks": {
    "| `GET /ping`": [
      [security, "accepts the older headers, and lets Authorization win over them"],
      [idempotency, "means nothing to a session's creation, to a read, or once the caller's key is revoked"],
    ],
    "| `GET /organizations`": [
      [me, "belongs to the user who created it, and a new name is shown to every member"],
      [me, "has the user with all organizations and roles, and a null user for a key or an app's session"],
    ],
  },
};
