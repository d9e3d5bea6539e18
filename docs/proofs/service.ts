import type { Proofs } from "./proof.ts";

const accessRules = "test/api/access-rules.test.ts";
const addresses = "test/api/storage/addresses.test.ts";
const bombs = "test/local/archive/bombs.test.ts";
const commandLines = "test/local/scripts/command-lines.test.ts";
const concurrency = "test/api/faults/concurrency.test.ts";
const connectTool = "test/api/connect-tool.test.ts";
const credentials = "test/local/http/credentials.test.ts";
const deletion = "test/api/organizations/deletion.test.ts";
const deployedService = "test/local/scripts/deployed-service.test.ts";
const domains = "test/unit/lambdas/operator/domains.test.ts";
const events = "test/api/events.test.ts";
const idempotency = "test/api/faults/idempotency.test.ts";
const identity = "test/pipeline/faults/identity.test.ts";
const kill = "test/pipeline/faults/kill.test.ts";
const limits = "test/unit/buildpack/zip/limits.test.ts";
const lists = "test/api/storage/lists.test.ts";
const managers = "test/api/faults/managers.test.ts";
const me = "test/api/organizations/me.test.ts";
const members = "test/api/organizations/members.test.ts";
const migration = "test/api/organizations/migration.test.ts";
const prepareFiles = "test/api/storage/prepare-files.test.ts";
const projects = "test/api/organizations/projects.test.ts";
const readme = "test/e2e/readme.test.ts";
const recovery = "test/local/ecs/recovery.test.ts";
const redeployWindow = "test/unit/lambdas/builds/redeploy-window.test.ts";
const references = "test/unit/docs/references.test.ts";
const signIn = "test/api/sign-in.test.ts";
const synthDeployment = "test/synth/deployment.ts";
const tablesRows = "test/api/tables/rows.test.ts";
const takenPort = "test/pipeline/taken-port.test.ts";
const texts = "test/api/texts.test.ts";
const variablesTotal = "test/api/faults/variables-total.test.ts";

export const serviceProofs: Proofs = {
  Limits: {
    "The limits are": [[references, "every link and every path that a page names exists"]],
    "| builds per": [[concurrency, "create one build: one 201, and 49 × 409 that name it"]],
    "| title, description": [
      [texts, "the title and the description of a build are trimmed, then measured; empty ones are null"],
    ],
    "| page of": [
      [texts, "every list with pages takes a limit in its range, and only a cursor of its own"],
      [lists, "refuses the limit %j"],
      [tablesRows, "take a cursor of this list only, and a limit in its range"],
    ],
    "| events |": [[events, "older than a year are not shown, whether DynamoDB has deleted them or not"]],
    "| redeployable builds": [
      [redeployWindow, "are the ten most recent successful ones other than the live one, for any history"],
    ],
    "| archive |": [
      [limits, "%s is refused"],
      [bombs, "an archive of nearly 512 MiB is checked within 256 MiB"],
      [bombs, "200,000 files are checked within 256 MiB"],
    ],
    "| wait for": [[synthDeployment, "the upload is awaited for as long as its address is valid"]],
    "| projects, databases,": [
      [projects, "an organization has at most 500 projects"],
      [projects, "%s are made, listed oldest first and renamed, at most 50"],
      [members, "at most 500 members, also at once"],
    ],
    "| domains per": [
      [projects, "a project has at most ten, and a domain belongs to one project, also with requests at the same time"],
    ],
    "| name of": [
      [me, "a name has up to 128 characters, however many bytes they have"],
      [projects, "are not made of %j"],
    ],
    "| app keys": [[credentials, "are three at most: the fourth is a 409 with those that exist, and makes nothing"]],
    "| variables per": [
      [concurrency, "the 501st variable is refused, however many are sent at once"],
      [texts, "the names and values of variables keep their rules, and every answer has all fields"],
      [variablesTotal, "have 1 MiB together, to the byte, at POST and PUT"],
    ],
    "| files per": [
      [prepareFiles, "is refused with 400 for %s, every broken rule named, and makes nothing"],
      [prepareFiles, "takes names of 1 and 128 characters, an emoji being one, and a mime of 255"],
    ],
    "| presigned addresses": [[addresses, "lives for its whole hour and not longer"]],
    "| session |": [
      [
        identity,
        "and gets a session of its organization that is valid for ten minutes and has the permissions of a key",
      ],
    ],
    "| code that": [
      [connectTool, "a code is valid for five minutes and gives a token of the access that the user agreed to"],
      [connectTool, "%s is a 400"],
    ],
    "| Idempotency-Key |": [
      [idempotency, "may have 255 characters, and must not have none or 256"],
      [idempotency, "is forgotten after its time, though the table still has the row"],
    ],
    "| request body": [[texts, "a body has at most 1 MiB"]],
  },
  "Operator commands": {
    "The operator's commands": [
      [commandLines, "%s is the caller's mistake: one JSON object on stderr, exit 1"],
      [projects, "are added once among all projects, listed oldest first, and free again after their removal"],
    ],
    "`npm run --silent": [
      [commandLines, "%s is the caller's mistake: one JSON object on stderr, exit 1"],
      [commandLines, "reports that no service runs"],
    ],
    "It works on": [
      [commandLines, "reports that no service runs"],
      [deployedService, "a working service passes every check of the smoke test"],
    ],
    "`migrate` (no input)": [
      [
        migration,
        "what the first version made is listed, counted and unique after a migration, and a second one changes nothing",
      ],
      [migration, "two migrations at once count everything once"],
    ],
    "`npm run deploy`": [[migration, "what is changed or deleted before the migration is counted right after it"]],
    "| `create-user` |": [
      [me, "has the user with all organizations and roles, and a null user for a key or an app's session"],
    ],
    "| `create-token` |": [
      [accessRules, "a token made with access %s may read"],
      [me, "are made, listed without their values, used and revoked"],
    ],
    "| `revoke-token` |": [[me, "are made and revoked by the operator too, with the same bounds"]],
    "| `create-sign-in-link` |": [[signIn, "a link leads to the console on localhost, and is valid for 15 minutes"]],
    "| `create-organization` |": [
      [lists, "holds the organization's own, oldest first, with the fields of the contract"],
    ],
    "| `add-member` |": [
      [me, "has the user with all organizations and roles, and a null user for a key or an app's session"],
    ],
    "| `create-project` |": [[deletion, "ends everything of it at once, and removes the rest after the response"]],
    "| `set-managers` |": [[managers, "an empty list refuses every user; no list admits every member again"]],
    "| `create-database`, `create-storage`": [
      [lists, "holds the organization's own, oldest first, with the fields of the contract"],
      [projects, "%s are made, listed oldest first and renamed, at most 50"],
    ],
    "| `create-credential` |": [
      [texts, "an app key has no end, shows its secret once, and is not listed beside the operator's"],
    ],
    "| `add-domain`, `activate-domain`,": [
      [projects, "are added once among all projects, listed oldest first, and free again after their removal"],
      [domains, "a domain that nothing routes is not activated, and the message says what to use"],
    ],
  },
  "Local service": {
    "`npm ci &&": [[readme, "deploys the Node.js example and prints its address"]],
    "`PORT` (4000) and": [
      [commandLines, "PORT=%s is refused with a message that names it"],
      [readme, "a second service on the same folder or port does not start and prints the reason"],
    ],
    "Once it can": [[readme, "deploys the Node.js example and prints its address"]],
    "By then `$SLIPWAY_HOME/local.json`": [[readme, "deploys the Node.js example and prints its address"]],
    "State survives a": [
      [readme, "after a SIGKILL during a build the app is served again and the project can be deployed"],
      [kill, "the service killed at a write to its table"],
      [
        recovery,
        "after a SIGKILL no app is left; a restart serves the live app at its address and resumes the deployment",
      ],
    ],
    "An app is": [
      [readme, "after a SIGKILL during a build the app is served again and the project can be deployed"],
      [takenPort, "gets another port before its first build, which warns about it, and after a restart, and keeps it"],
    ],
    "A second service": [[readme, "a second service on the same folder or port does not start and prints the reason"]],
    "SIGTERM and Ctrl-C": [[readme, "SIGTERM ends everything and leaves no process behind"]],
  },
};
