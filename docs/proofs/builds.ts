import type { Proofs } from "./proof.ts";

const addresses = "test/api/storage/addresses.test.ts";
const analysisSettings = "test/unit/buildpack/analysis/settings.test.ts";
const apiPage = "test/unit/docs/api-page.test.ts";
const appLogs = "test/pipeline/app-logs.test.ts";
const architecture = "test/unit/docs/architecture.test.ts";
const cancel = "test/pipeline/faults/cancel.test.ts";
const cliCommandLine = "test/unit/cli/command-line.test.ts";
const concurrency = "test/api/faults/concurrency.test.ts";
const deployment = "test/pipeline/backends/deployment.ts";
const isLive = "test/unit/lambdas/builds/is-live.test.ts";
const languages = "test/pipeline/languages.test.ts";
const liveUnknown = "test/pipeline/faults/live-unknown.test.ts";
const managers = "test/api/faults/managers.test.ts";
const mask = "test/unit/lambdas/builds/mask.test.ts";
const masking = "test/pipeline/masking.test.ts";
const outcomes = "test/unit/statemachines/outcomes.test.ts";
const pollInterval = "test/unit/lambdas/builds/poll-interval.test.ts";
const projects = "test/api/organizations/projects.test.ts";
const protocol = "test/unit/lambdas/builds/protocol.test.ts";
const redeployWindow = "test/unit/lambdas/builds/redeploy-window.test.ts";
const repeatedEvents = "test/pipeline/faults/repeated-events.test.ts";
const samples = "test/api/samples.test.ts";
const settings = "test/pipeline/settings.test.ts";
const sourceGone = "test/pipeline/source-gone.test.ts";
const stageBoundaries = "test/pipeline/faults/stage-boundaries.test.ts";
const suggestions = "test/unit/buildpack/analysis/suggestions.test.ts";
const synthDeployment = "test/synth/deployment.ts";
const texts = "test/api/texts.test.ts";
const transitions = "test/local/builds/transitions.test.ts";
const unhealthy = "test/pipeline/unhealthy.test.ts";
const waitForBuild = "test/unit/sdk/wait-for-build.test.ts";

export const buildsProofs: Proofs = {
  Builds: {
    "All below `/organizations/{orgId}/projects/{projectId}`.": [
      [samples, "%s: its samples work"],
      [apiPage, "the page of the interface names every route and no other"],
    ],
    "| `GET /endpoints`": [
      [projects, "are added once among all projects, listed oldest first, and free again after their removal"],
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
    ],
    "| `GET /builds`": [
      [texts, "every list with pages takes a limit in its range, and only a cursor of its own"],
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
    ],
    "| `POST /builds`": [
      [texts, "the title and the description of a build are trimmed, then measured; empty ones are null"],
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
    ],
    "| `GET /builds/{buildId}`": [
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
    ],
    "| `POST /builds/{buildId}/cancel`": [
      [deployment, "a build that is canceled while it is built keeps its status, and the next one can start at once"],
    ],
    "| `POST /rebuild`": [[deployment, "variables reach the app unchanged, but only after a rebuild"]],
    "| `POST /builds/{buildId}/redeploy`": [
      [deployment, "redeploy runs an earlier build's archive again, with its title"],
    ],
    "| `GET /builds/{buildId}/logs`": [
      [deployment, "a failing build command ends the build with its last output in the error"],
      [texts, "every list with pages takes a limit in its range, and only a cursor of its own"],
    ],
  },
  "Build fields": {
    "Title and description": [
      [texts, "the title and the description of a build are trimmed, then measured; empty ones are null"],
    ],
    "An empty text": [
      [texts, "the title and the description of a build are trimmed, then measured; empty ones are null"],
    ],
    "NUL is refused.": [[texts, "a text that cannot be stored is refused and named"]],
    "| `id` |": [
      [texts, "ids have the prefix of their kind and sort by time, times have milliseconds, and each answer has an id"],
    ],
    "| `title` |": [
      [texts, "the title and the description of a build are trimmed, then measured; empty ones are null"],
    ],
    "| `description` |": [
      [texts, "the title and the description of a build are trimmed, then measured; empty ones are null"],
    ],
    "| `commit`, `version`": [
      [texts, "the title and the description of a build are trimmed, then measured; empty ones are null"],
    ],
    "| `runtime` |": [
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
      [languages, "a Python app runs with the requested Python, or has a warning that this machine has another one"],
    ],
    "| `size` |": [
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
      [deployment, "an invalid archive ends the build with an error"],
    ],
    "| `status` |": [
      [deployment, "a build that is canceled while it is built keeps its status, and the next one can start at once"],
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
    ],
    "| `error` |": [
      [
        deployment,
        "a failed first deployment leaves nothing running, reports the reason, and releases the project's lock",
      ],
      [languages, "an app that cannot be detected ends with an error that lists what was searched"],
    ],
    "| `suggestion` |": [
      [suggestions, "at most six are shown, each kind once before any twice, joined by newlines with file and line"],
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
    ],
    "| `createdAt`, `updatedAt`": [
      [texts, "ids have the prefix of their kind and sort by time, times have milliseconds, and each answer has an id"],
    ],
    "| `isLive` |": [[deployment, "a good zip becomes ready, is live, and answers at the project's address"]],
    "| `canRedeploy` |": [
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
      [liveUnknown, "is known: one build is live, the others can be redeployed"],
    ],
    "| `redeployBlockedBy` |": [
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
      [redeployWindow, "are the ten most recent successful ones other than the live one, for any history"],
    ],
    "| `warning` |": [
      [deployment, "an app that answers 404 at / becomes ready with a warning; with 401 it becomes ready without one"],
    ],
    "| `canceledAt` |": [
      [deployment, "a build that is canceled while it is built keeps its status, and the next one can start at once"],
    ],
    "| `findings` |": [
      [
        settings,
        "settings of the project hold from its next build on; a rollback restores all instances, and fewer are left by the next",
      ],
      [appLogs, "a live app that keeps crashing is reported with its restarts, its last exit and its last lines"],
    ],
    "| `detected` |": [
      [analysisSettings, "is reported beside settings that replace it, in a file too"],
      [analysisSettings, "is null where nothing is detected without the setting"],
    ],
  },
  isLive: {
    "`isLive` marks the": [
      [deployment, "an app that %s is rolled back and the old version keeps serving"],
      [isLive, "a build that serves and is %s is shown as live: %s"],
    ],
    "It is meaningful": [[isLive, "a build that serves and is %s is shown as live: %s"]],
    "In the list": [[isLive, "a build that serves and is %s is shown as live: %s"]],
    "The single read": [[isLive, "a build that serves and is %s is shown as live: %s"]],
    "False can also": [
      [
        liveUnknown,
        "a list answers 200 within seconds, reports the status as unavailable, and marks no build as live or redeployable",
      ],
    ],
    "A list without": [
      [
        liveUnknown,
        "a list answers 200 within seconds, reports the status as unavailable, and marks no build as live or redeployable",
      ],
    ],
  },
  canRedeploy: {
    "True for the": [
      [redeployWindow, "are the ten most recent successful ones other than the live one, for any history"],
    ],
    "It does not": [
      [redeployWindow, "are the ten most recent successful ones other than the live one, for any history"],
      [liveUnknown, "is known: one build is live, the others can be redeployed"],
    ],
    "`redeployAvailability` is `{status:": [
      [
        liveUnknown,
        "a list answers 200 within seconds, reports the status as unavailable, and marks no build as live or redeployable",
      ],
      [liveUnknown, "is known: one build is live, the others can be redeployed"],
    ],
  },
  "Build states": {
    "`pending` → `analyzing`": [
      [architecture, "the diagram under %s shows every transition of %s and no other"],
      [protocol, "three builds: every invariant holds in every state"],
    ],
    "A build with": [
      [deployment, "a build that is canceled while it is built keeps its status, and the next one can start at once"],
      [waitForBuild, "waiting ends when canceledAt is set, with any status"],
    ],
    "A canceled build": [
      [deployment, "a build that is canceled while it is built keeps its status, and the next one can start at once"],
      [stageBoundaries, "a build that is canceled before it is built keeps what its analysis found"],
    ],
    "It becomes `error`": [
      [
        cancel,
        "of a build whose analysis then fails: it ends as error, stays canceled, and does not release the next build's lock",
      ],
    ],
    "A project runs": [
      [concurrency, "create one build: one 201, and 49 × 409 that name it"],
      [concurrency, "create and cancel over and over: never two builds at once, never a lock without its build"],
    ],
    "The second is": [[concurrency, "create one build: one 201, and 49 × 409 that name it"]],
    "Rebuild and redeploy": [[deployment, "redeploy runs an earlier build's archive again, with its title"]],
    "| nothing |": [
      [concurrency, "create one build: one 201, and 49 × 409 that name it"],
      [liveUnknown, "twenty concurrent rebuilds with one Idempotency-Key create one build"],
    ],
    "| `pending` | the": [
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
      [transitions, "moves the build and its lock together, and forgets the upload's token"],
    ],
    "| `pending` | no": [
      [
        repeatedEvents,
        "a build whose upload never arrives ends with advice in its error and releases the project's lock",
      ],
      [synthDeployment, "the upload is awaited for as long as its address is valid"],
    ],
    "| `analyzing` |": [
      [transitions, "moves the build and its lock together, and forgets the upload's token"],
      [protocol, "three builds: every invariant holds in every state"],
    ],
    "| `building` |": [
      [transitions, "moves the build and its lock together, and forgets the upload's token"],
      [
        settings,
        "a release command runs once in the new image, before the new version, with its output masked in the log; meanwhile the build is deploying and cannot be canceled",
      ],
    ],
    "| `deploying` | healthy": [
      [transitions, "makes the build live and releases the project's lock, in one transaction"],
      [deployment, "a new version replaces the old one without a failed request"],
    ],
    "| `deploying` | not": [
      [unhealthy, "is rolled back with the reason and its last output, without a failed request"],
      [deployment, "an app that %s is rolled back and the old version keeps serving"],
    ],
    "| any of the first three | a": [
      [deployment, "an invalid archive ends the build with an error"],
      [deployment, "a failing build command ends the build with its last output in the error"],
    ],
    "| any of the first three | cancel": [
      [cancel, "that comes just before the write of “$write” wins, and the build stops at $from"],
      [cancel, "at any moment: refused after the deployment has started, otherwise final"],
    ],
  },
  Upload: {
    "PUT the bytes": [
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
      [addresses, "signs host and Content-Type and carries no checksum"],
    ],
    "The first upload": [[deployment, "an early, a repeated or a late upload does not break the build"]],
  },
  Polling: {
    "Read the build": [
      [waitForBuild, "a build is read as often as the service asks for, and each status is told once"],
      [waitForBuild, "waiting ends when canceledAt is set, with any status"],
    ],
    "An answer for": [
      [pollInterval, "a build is read again after: %d seconds old, %d seconds"],
      [
        texts,
        "a finished build cannot be canceled, and says nothing about polling; a pending one is read again after a second",
      ],
    ],
  },
  Cancel: {
    "`pending`, `analyzing` and": [
      [cancel, "that comes just before the write of “$write” wins, and the build stops at $from"],
      [deployment, "a build that is canceled while it is built keeps its status, and the next one can start at once"],
    ],
    "A command that": [
      [deployment, "a build that is canceled while it is built keeps its status, and the next one can start at once"],
      [outcomes, "a canceled build is dropped at its next stage boundary, without an error"],
    ],
    "A second cancel": [
      [
        concurrency,
        "cancel one build: all answer 200 with the same instant, and the next project's lock is left alone",
      ],
    ],
    "`deploying`: 409 `build_deploying`.": [
      [cancel, "that comes just before the write of “%s” is refused"],
      [cancel, "that comes just after the write of “deploying” is refused, and the build continues"],
    ],
    "Finished: 409 `build_finished`.": [
      [cancel, "at any moment: refused after the deployment has started, otherwise final"],
      [
        texts,
        "a finished build cannot be canceled, and says nothing about polling; a pending one is read again after a second",
      ],
    ],
  },
  Rebuild: {
    "Builds the deployed": [[deployment, "variables reach the app unchanged, but only after a rebuild"]],
    "This is the": [[deployment, "variables reach the app unchanged, but only after a rebuild"]],
    "The build cannot": [[deployment, "variables reach the app unchanged, but only after a rebuild"]],
    "Refusals, in this": [
      [managers, "a rebuild and a redeploy say which rule refuses them"],
      [liveUnknown, "rebuild and redeploy answer 503 with Retry-After and start nothing"],
      [
        deployment,
        "a failed first deployment leaves nothing running, reports the reason, and releases the project's lock",
      ],
      [
        sourceGone,
        "if a source archive was deleted, rebuild and redeploy answer 410, and other builds still work (docs/api.md, Rebuild)",
      ],
    ],
  },
  Redeploy: {
    "Copies the archive": [[deployment, "redeploy runs an earlier build's archive again, with its title"]],
    "It uses today's": [
      [liveUnknown, "is known: one build is live, the others can be redeployed"],
      [deployment, "redeploy runs an earlier build's archive again, with its title"],
    ],
    "Refusals, in this": [
      [managers, "a rebuild and a redeploy say which rule refuses them"],
      [liveUnknown, "rebuild and redeploy answer 503 with Retry-After and start nothing"],
      [deployment, "redeploy runs an earlier build's archive again, with its title"],
      [
        sourceGone,
        "if a source archive was deleted, rebuild and redeploy answer 410, and other builds still work (docs/api.md, Rebuild)",
      ],
    ],
    "Both take over": [[deployment, "redeploy runs an earlier build's archive again, with its title"]],
  },
  "Build logs": {
    "Output of the": [
      [deployment, "a failing build command ends the build with its last output in the error"],
      [
        settings,
        "a release command runs once in the new image, before the new version, with its output masked in the log; meanwhile the build is deploying and cannot be canceled",
      ],
      [cliCommandLine, "logs prints each line once while it follows, until the build is finished"],
    ],
    "The values of variables": [
      [masking, "are masked in the reason and the output of a build that fails while it is built"],
      [mask, "masks %s"],
    ],
    "The values are": [
      [settings, "output stays masked with the values that its build was made with"],
      [mask, "no value is left %s"],
    ],
    "A value of": [[mask, "masks %s"]],
  },
};
