import type { Proofs } from "./proof.ts";

const accessRules = "test/api/access-rules.test.ts";
const apiPage = "test/unit/docs/api-page.test.ts";
const appLogs = "test/pipeline/app-logs.test.ts";
const authenticate = "test/unit/lambdas/http/authenticate.test.ts";
const cancel = "test/pipeline/faults/cancel.test.ts";
const client = "test/unit/sdk/client.test.ts";
const concurrency = "test/api/faults/concurrency.test.ts";
const connectTool = "test/api/connect-tool.test.ts";
const credentials = "test/local/http/credentials.test.ts";
const databases = "test/unit/lambdas/aws/databases.test.ts";
const deadline = "test/api/deadline.test.ts";
const deletion = "test/api/organizations/deletion.test.ts";
const deployment = "test/pipeline/backends/deployment.ts";
const events = "test/api/events.test.ts";
const idempotency = "test/api/faults/idempotency.test.ts";
const lists = "test/api/storage/lists.test.ts";
const liveUnknown = "test/pipeline/faults/live-unknown.test.ts";
const log = "test/unit/lambdas/http/log.test.ts";
const managers = "test/api/faults/managers.test.ts";
const mcp = "test/api/mcp.test.ts";
const me = "test/api/organizations/me.test.ts";
const members = "test/api/organizations/members.test.ts";
const openapi = "test/unit/api/openapi.test.ts";
const passkeys = "test/console/passkeys.ts";
const prepareFiles = "test/api/storage/prepare-files.test.ts";
const projects = "test/api/organizations/projects.test.ts";
const retry = "test/unit/sdk/retry.test.ts";
const routes = "test/synth/routes.ts";
const samples = "test/api/samples.test.ts";
const schema = "test/api/tables/schema.test.ts";
const security = "test/api/security.test.ts";
const signIn = "test/api/sign-in.test.ts";
const slipway = "test/unit/sdk/slipway.test.ts";
const sourceGone = "test/pipeline/source-gone.test.ts";
const tableFaults = "test/api/faults/table-faults.test.ts";
const tablesRows = "test/api/tables/rows.test.ts";
const texts = "test/api/texts.test.ts";
const variablesTotal = "test/api/faults/variables-total.test.ts";

export const requestsProofs: Proofs = {
  "Requests and answers": {
    "Bodies are JSON": [
      [texts, "broken JSON, bytes that are not UTF-8, a value that is not an object and a wrong type are a 400"],
    ],
    "Where a body": [[texts, "a body is read whatever its content type is, and an empty one counts as {}"]],
    "Broken JSON, a": [
      [texts, "broken JSON, bytes that are not UTF-8, a value that is not an object and a wrong type are a 400"],
    ],
    "Unknown fields are": [
      [texts, "unknown fields are ignored, but not in the definitions of tables and columns"],
      [schema, "bad definitions are refused with the field at fault"],
      [schema, "names every broken rule at once, and speaks no SQL"],
    ],
    "A request body": [[texts, "a body has at most 1 MiB"]],
    "A route that": [
      [samples, "%s: its samples work"],
      [openapi, "the OpenAPI document holds every route under its own id, with its status and its path's parameters"],
    ],
    "Timestamps are UTC": [
      [texts, "ids have the prefix of their kind and sort by time, times have milliseconds, and each answer has an id"],
    ],
    'A "character" is': [
      [prepareFiles, "takes names of 1 and 128 characters, an emoji being one, and a mime of 255"],
      [me, "a name has up to 128 characters, however many bytes they have"],
      [texts, "the title and the description of a build are trimmed, then measured; empty ones are null"],
    ],
    "Ids are opaque": [
      [texts, "ids have the prefix of their kind and sort by time, times have milliseconds, and each answer has an id"],
    ],
    "The id of": [[credentials, "have ids that only grow, also within a second and after a deletion"]],
    "Every answer carries": [
      [security, "answers 401 to a missing, malformed, unknown or wrong credential, with one body for all"],
      [texts, "is served as RFC 9457 to %s"],
      [texts, "ids have the prefix of their kind and sort by time, times have milliseconds, and each answer has an id"],
    ],
    "The interface has": [
      [routes, "the API has exactly the contract's routes, and the file with the route's name handles each"],
      [apiPage, "the page of the interface names every route and no other"],
    ],
  },
  "Order of checks": {
    "A request is": [
      [security, "answers the 404 of a missing resource for everything that is another's"],
      [
        security,
        "%s %s: a resource that is missing or belongs to others is a 404, also with an unreadable or too large body",
      ],
      [accessRules, "%s: a lesser role is a 403 that names the one it takes"],
      [managers, "a broken body is refused after the list: 403 for the owner, 400 for the manager"],
      [schema, "gets the 404 of a table before the 400 of a body"],
      [accessRules, "%s: what does not exist is a 404 before it is a 403"],
    ],
    "A caller therefore": [
      [security, "answers the 404 of a missing resource for everything that is another's"],
      [accessRules, "%s: what does not exist is a 404 before it is a 403"],
    ],
  },
  Errors: {
    "`status` is the": [
      [texts, "has the service's own shape for %s"],
      [security, "an unknown route is a 404 in the same shape"],
    ],
    "`message` is for": [[apiPage, "the page of the interface explains every error code with its status"]],
    "A 400 adds": [
      [prepareFiles, "is refused with 400 for %s, every broken rule named, and makes nothing"],
      [authenticate, "is every broken rule, or that it is too large"],
    ],
    "A request with": [
      [texts, "is served as RFC 9457 to %s"],
      [texts, "has the service's own shape for %s"],
    ],
    "The message of": [
      [log, "any other error is logged with its message and where it came from"],
      [tablesRows, "does not contain PostgreSQL's message when it fails"],
    ],
    "A body without": [[texts, "a body is read whatever its content type is, and an empty one counts as {}"]],
    "A request has": [
      [deadline, "a request whose calls get no answer ends at its deadline with 503, and its calls are aborted"],
    ],
    "If its work": [
      [deadline, "a request whose calls get no answer ends at its deadline with 503, and its calls are aborted"],
      [tableFaults, "again and again is a 503 before the gateway gives up after 29 s"],
    ],
    "Whether a write": [
      [idempotency, "of a request whose answer was lost gives that answer"],
      [deadline, "a request whose calls get no answer ends at its deadline with 503, and its calls are aborted"],
    ],
    "On AWS a": [
      [client, "an answer %i of API Gateway itself has the code that the service would give"],
      [routes, "API Gateway writes an access log and bounds the rate of calls"],
    ],
    "They do not": [[client, "an answer %i of API Gateway itself has the code that the service would give"]],
    "The SDK and": [
      [retry, "a GET is repeated after exactly the time that the service asked for"],
      [retry, "a POST is sent once, unless its Idempotency-Key makes it safe to repeat"],
      [slipway, "a POST is repeated with one Idempotency-Key, which the client makes"],
      [retry, "without Retry-After the waits grow, differ between clients, and stay below five seconds"],
    ],
    "| `invalid_request` |": [
      [prepareFiles, "is refused with 400 for %s, every broken rule named, and makes nothing"],
      [texts, "broken JSON, bytes that are not UTF-8, a value that is not an object and a wrong type are a 400"],
    ],
    "| `unauthorized` |": [
      [security, "answers 401 to a missing, malformed, unknown or wrong credential, with one body for all"],
      [accessRules, "an expired token is a 401, in a read and in a write"],
    ],
    "| `users_only` |": [[accessRules, "%s: a key and an app's session are a 403"]],
    "| `token_scope` |": [[accessRules, "%s: a token that was not made for it is a 403"]],
    "| `forbidden` |": [[accessRules, "%s: a lesser role is a 403 that names the one it takes"]],
    "| `sign_in_needed` |": [
      [passkeys, "a token cannot add a passkey, and a challenge for one user is no other's"],
      [connectTool, "only the console agrees: not a token, which could widen its own access, and not a key"],
    ],
    "| `foreign_origin` |": [
      [signIn, "a page with %s can neither sign in, refresh nor sign out"],
      [mcp, "bad input is answered by the protocol, never with a 5xx"],
    ],
    "| `not_a_manager` |": [[managers, "POST %s by an owner who is not on the list: 403 that names the managers"]],
    "| `not_found` |": [
      [security, "answers the 404 of a missing resource for everything that is another's"],
      [security, "an unknown route is a 404 in the same shape"],
    ],
    "| `build_in_progress` |": [
      [concurrency, "create one build: one 201, and 49 × 409 that name it"],
      [deployment, "redeploy runs an earlier build's archive again, with its title"],
    ],
    "| `build_finished` |": [
      [cancel, "at any moment: refused after the deployment has started, otherwise final"],
      [
        texts,
        "a finished build cannot be canceled, and says nothing about polling; a pending one is read again after a second",
      ],
    ],
    "| `build_deploying` |": [
      [cancel, "that comes just before the write of “%s” is refused"],
      [cancel, "that comes just after the write of “deploying” is refused, and the build continues"],
    ],
    "| `never_deployed` |": [
      [
        deployment,
        "a failed first deployment leaves nothing running, reports the reason, and releases the project's lock",
      ],
    ],
    "| `deployed_build_not_successful` |": [[managers, "a rebuild and a redeploy say which rule refuses them"]],
    "| `build_not_successful` |": [[managers, "a rebuild and a redeploy say which rule refuses them"]],
    "| `build_canceled` |": [
      [managers, "the listed member and any key create builds; the owner still reads, cancels and sets variables"],
    ],
    "| `build_already_live` |": [[deployment, "redeploy runs an earlier build's archive again, with its title"]],
    "| `build_outside_window` |": [[managers, "a rebuild and a redeploy say which rule refuses them"]],
    "| `credential_limit` |": [
      [concurrency, "create credentials: three 201, and 47 × 409 that list what the project holds"],
      [credentials, "are three at most: the fourth is a 409 with those that exist, and makes nothing"],
    ],
    "| `name_taken` |": [
      [concurrency, "create one variable: one 201, and 49 × 409"],
      [projects, "are added once among all projects, listed oldest first, and free again after their removal"],
    ],
    "| `limit_reached` |": [
      [concurrency, "the 501st variable is refused, however many are sent at once"],
      [projects, "a project has at most ten, and a domain belongs to one project, also with requests at the same time"],
    ],
    "| `storage_not_empty` |": [[deletion, "is refused while it holds a file of any status, and then final"]],
    "| `last_owner` |": [
      [members, "every member may leave, except the last owner; only admins remove others, only owners remove owners"],
    ],
    "| `already_member` |": [[members, "a user who exists becomes a member at once and keeps their name"]],
    "| `variables_too_large` |": [[variablesTotal, "have 1 MiB together, to the byte, at POST and PUT"]],
    "| `table_exists`, `column_exists`": [
      [schema, "that fails with %i leaves the table byte for byte as it was: %j"],
      [schema, "of the same name happens once: of two tables created at once, one is"],
    ],
    "| `data_conflict` |": [
      [schema, "that fails with %i leaves the table byte for byte as it was: %j"],
      [tablesRows, "obeys required, default and unique, as the database has them"],
    ],
    "| `source_gone` |": [
      [
        sourceGone,
        "if a source archive was deleted, rebuild and redeploy answer 410, and other builds still work (docs/api.md, Rebuild)",
      ],
    ],
    "| `body_too_large` |": [
      [texts, "a body has at most 1 MiB"],
      [
        security,
        "%s %s: a resource that is missing or belongs to others is a 404, also with an unreadable or too large body",
      ],
    ],
    "| `idempotency_mismatch` |": [[idempotency, "with another body is refused with 422, and nothing is made"]],
    "| `too_many_requests` |": [
      [client, "an answer %i of API Gateway itself has the code that the service would give"],
      [retry, "a GET is repeated after exactly the time that the service asked for"],
    ],
    "| `internal` |": [
      [log, "any other error is logged with its message and where it came from"],
      [texts, "has the service's own shape for %s"],
    ],
    "| `live_unknown` |": [[liveUnknown, "rebuild and redeploy answer 503 with Retry-After and start nothing"]],
    "| `database_resuming` |": [
      [databases, "is asked again after pauses of up to 2 s, and the caller is told when to come again"],
    ],
    "| `unavailable` |": [
      [tableFaults, "under %s without end, answers 503 and leaves nothing half-made"],
      [deadline, "a request whose calls get no answer ends at its deadline with 503, and its calls are aborted"],
    ],
    "| 429 |": [
      [routes, "API Gateway writes an access log and bounds the rate of calls"],
      [client, "an answer %i of API Gateway itself has the code that the service would give"],
    ],
    "| 503, 502,": [[client, "an answer %i of API Gateway itself has the code that the service would give"]],
    "| 413 |": [[client, "an answer %i of API Gateway itself has the code that the service would give"]],
    "| 500 |": [[client, "an answer %i of API Gateway itself has the code that the service would give"]],
  },
  Lists: {
    "A list takes": [
      [texts, "every list with pages takes a limit in its range, and only a cursor of its own"],
      [lists, "pages by %i without gap or repetition"],
      [projects, "page newest first, and a cursor belongs to its list"],
    ],
    "A limit that": [
      [texts, "every list with pages takes a limit in its range, and only a cursor of its own"],
      [lists, "refuses the limit %j"],
      [events, "page by a cursor of this list, and no other cursor or limit is accepted"],
    ],
    "Cursors are opaque": [
      [tablesRows, "take a cursor of this list only, and a limit in its range"],
      [projects, "page newest first, and a cursor belongs to its list"],
      [appLogs, "a cursor of another project's output is refused"],
    ],
  },
  Idempotency: {
    "A POST may": [[idempotency, "may have 255 characters, and must not have none or 256"]],
    "The same key": [
      [idempotency, "gives the first build again, its address signed anew and good for the upload"],
      [idempotency, "with another body is refused with 422, and nothing is made"],
      [idempotency, "is forgotten after its time, though the table still has the row"],
      [idempotency, "is remembered by caller and path: another caller's request is its own"],
    ],
    "Validation errors and": [
      [idempotency, "of a conflict or a broken rule is not remembered"],
      [idempotency, "twenty times at once makes one key, whose secret is in one answer only"],
      [idempotency, "gives the first build again, its address signed anew and good for the upload"],
    ],
  },
};
