import type { Proofs } from "./proof.ts";

const accepted = "test/unit/buildpack/zip/accepted.test.ts";
const analysisSettings = "test/unit/buildpack/analysis/settings.test.ts";
const apiPage = "test/unit/docs/api-page.test.ts";
const apiSettings = "test/unit/api/settings.test.ts";
const appLogs = "test/pipeline/app-logs.test.ts";
const bombs = "test/local/archive/bombs.test.ts";
const buildsMetrics = "test/unit/lambdas/builds/metrics.test.ts";
const cloudwatch = "test/local/cloudwatch/cloudwatch.test.ts";
const commandLength = "test/unit/buildpack/analysis/command-length.test.ts";
const deployment = "test/pipeline/backends/deployment.ts";
const ecsUnhealthy = "test/local/ecs/unhealthy.test.ts";
const health = "test/unit/lambdas/pipeline/health.test.ts";
const instances = "test/local/ecs/instances.test.ts";
const languages = "test/pipeline/languages.test.ts";
const limits = "test/unit/buildpack/zip/limits.test.ts";
const logs = "test/local/logs/logs.test.ts";
const masking = "test/pipeline/masking.test.ts";
const metrics = "test/pipeline/metrics.test.ts";
const projects = "test/api/organizations/projects.test.ts";
const references = "test/unit/docs/references.test.ts";
const refusals = "test/unit/buildpack/zip/refusals.ts";
const release = "test/pipeline/release.test.ts";
const root = "test/unit/buildpack/analysis/root.test.ts";
const settings = "test/pipeline/settings.test.ts";
const start = "test/unit/buildpack/image/start.test.ts";
const unhealthy = "test/pipeline/unhealthy.test.ts";

export const appsProofs: Proofs = {
  "Output and measurements of running apps": {
    "Extension, below `/organizations/{orgId}/projects/{projectId}`.": [
      [apiPage, "the page of the interface names every route and no other"],
    ],
    "| `GET /logs`": [
      [appLogs, "the newest page comes first, its lines in order, and leads back to the first line"],
      [appLogs, "%s is answered with %d"],
    ],
    "| `GET /metrics`": [
      [metrics, "points are at multiples of the step, at most 300, from the moment that was asked for"],
    ],
  },
  "Logs of apps": {
    "What the project's": [
      [appLogs, "filters find a part of the masked line without case, and hold while following"],
      [logs, "events are kept for 30 days"],
    ],
    "It survives crashes": [
      [appLogs, "the last lines of a crashed instance are there, and lines of every build, also after a rollback"],
    ],
    "Without a cursor": [
      [appLogs, "the newest page comes first, its lines in order, and leads back to the first line"],
    ],
    "`nextCursor` leads back": [
      [appLogs, "the newest page comes first, its lines in order, and leads back to the first line"],
    ],
    "A page can": [[appLogs, "filters find a part of the masked line without case, and hold while following"]],
    "`followCursor` is always": [
      [appLogs, "following gives what was written since, oldest first, and loses nothing with a small limit"],
    ],
    "Given as `cursor`": [
      [appLogs, "following gives what was written since, oldest first, and loses nothing with a small limit"],
    ],
    "Nothing is lost": [
      [appLogs, "following gives what was written since, oldest first, and loses nothing with a small limit"],
    ],
    "`since` is a": [
      [appLogs, "filters find a part of the masked line without case, and hold while following"],
      [appLogs, "a build that does not exist is a 404 before a query that breaks a rule is a 400"],
      [appLogs, "%s is answered with %d"],
    ],
    "A cursor keeps": [[appLogs, "filters find a part of the masked line without case, and hold while following"]],
  },
  Metrics: {
    "What was measured": [
      [metrics, "points are at multiples of the step, at most 300, from the moment that was asked for"],
      [buildsMetrics, "the last hour has a point for each minute, up to the current one"],
    ],
    "`at` and `from`": [
      [buildsMetrics, "%f hours are at most 300 points, at multiples of the step, from the moment that was asked for"],
    ],
    "A `since` in": [
      [buildsMetrics, "a moment in the future counts as now: there is one point"],
      [buildsMetrics, "%f hours are at most 300 points, at multiples of the step, from the moment that was asked for"],
    ],
    "The last step": [[buildsMetrics, "the last hour has a point for each minute, up to the current one"]],
    "A value is": [
      [metrics, "a project without an app has points without values, and another moment is refused"],
      [buildsMetrics, "an app that ran without requests had none; without any measurement nothing is known"],
    ],
    "On AWS the": [
      [
        cloudwatch,
        "values of a minute, and of longer periods, are one value each, the newest first; empty periods have none",
      ],
    ],
    "There the probes": [
      [metrics, "the deployment's own health checks are no requests; memory and processor time are measured"],
    ],
    "Of the answers": [
      [cloudwatch, "the errors of an app are its answers of 500 and above, and the connections that it did not accept"],
    ],
    "On one machine": [[buildsMetrics, "shares of memory become MiB of one instance, and seconds become milliseconds"]],
    "| `requests`, `errors`": [
      [metrics, "requests, errors and latency are those that clients saw; a crash is a restart and an error"],
      [metrics, "the deployment's own health checks are no requests; memory and processor time are measured"],
      [buildsMetrics, "an app that ran without requests had none; without any measurement nothing is known"],
    ],
    "| `latencyMsP50`, `latencyMsP95`": [
      [metrics, "requests, errors and latency are those that clients saw; a crash is a restart and an error"],
      [cloudwatch, "percentiles are within 2 % over several minutes, also of zeros and single values"],
    ],
    "| `memoryMiB`, `cpuPercent`": [
      [metrics, "the deployment's own health checks are no requests; memory and processor time are measured"],
      [buildsMetrics, "shares of memory become MiB of one instance, and seconds become milliseconds"],
    ],
    "| `restarts` |": [
      [metrics, "requests, errors and latency are those that clients saw; a crash is a restart and an error"],
      [metrics, "instances of a deployment that failed are no restarts"],
      [buildsMetrics, "restarts are counted in their step; an hour ago and before they are not known"],
    ],
  },
  Archives: {
    "At most 512": [
      [limits, "%s is refused"],
      [refusals, "%s is refused"],
      [bombs, "an archive of nearly 512 MiB is checked within 256 MiB"],
      [bombs, "200,000 files are checked within 256 MiB"],
    ],
    "The build ends": [
      [refusals, "%s is refused"],
      [deployment, "an invalid archive ends the build with an error"],
    ],
    "Leftovers of macOS": [
      [root, "the leftovers of file managers are not seen"],
      [accepted, "%s: accepted"],
    ],
    "If everything lies": [[root, "without a marker at the top, the only folder that holds one is the root"]],
    "Backslashes in names": [
      [accepted, "%s: accepted"],
      [refusals, "%s is refused"],
    ],
    "How runtime and": [[references, "every reference to a page leads to a page, and to a heading where it names one"]],
    "A runtime that": [
      [languages, "a Python app runs with the requested Python, or has a warning that this machine has another one"],
    ],
  },
  "Health check": {
    "`GET /` (or": [
      [unhealthy, "is rolled back with the reason and its last output, without a failed request"],
      [settings, "several instances serve, at the health path that was set"],
      [health, "no answer in time"],
    ],
    "Any status below": [[health, "a probe that gives %j is healthy: %s"]],
    "A process that": [[deployment, "an app that %s is rolled back and the old version keeps serving"]],
    "With several `instances`,": [
      [
        instances,
        "traffic moves only when all tasks are healthy, and a rollback restores all tasks of the previous version",
      ],
      [instances, "no request is lost while one of three tasks dies, and it is replaced"],
    ],
    "An answer from": [
      [deployment, "an app that answers 404 at / becomes ready with a warning; with 401 it becomes ready without one"],
      [health, "a healthy answer of %j gives a warning: %s"],
    ],
    "Meanwhile the previous": [
      [deployment, "an app that %s is rolled back and the old version keeps serving"],
      [deployment, "a new version replaces the old one without a failed request"],
    ],
    "On failure `error`": [
      [unhealthy, "is rolled back with the reason and its last output, without a failed request"],
      [masking, "are masked in the reason and the output of a build whose app exits"],
    ],
    "A first deployment": [
      [
        deployment,
        "a failed first deployment leaves nothing running, reports the reason, and releases the project's lock",
      ],
    ],
    "The app gets": [
      [ecsUnhealthy, "a task has the environment of its task definition, with its own port"],
      [deployment, "a good zip becomes ready, is live, and answers at the project's address"],
    ],
  },
  Settings: {
    "The `settings` of": [
      [projects, "are made with all settings, read and changed field by field"],
      [analysisSettings, "is reported beside settings that replace it, in a file too"],
      [apiSettings, "every setting may be null, and may be left out"],
    ],
    "They are read": [
      [
        settings,
        "settings of the project hold from its next build on; a rollback restores all instances, and fewer are left by the next",
      ],
    ],
    "A change names": [[apiSettings, "a change keeps the settings that it does not name, and null removes a setting"]],
    "Unknown fields are": [
      [apiSettings, "an unknown field is refused by its name, and so is a value that is not an object"],
    ],
    "A file `slipway.json`": [
      [analysisSettings, "wins over the project's settings, and a null in it means detection"],
      [settings, "a broken slipway.json ends the build with a message that names file, field and rule"],
      [analysisSettings, "stands at the archive's root, of which a single folder at the top is one"],
    ],
    "The build's `findings`": [
      [
        settings,
        "settings of the project hold from its next build on; a rollback restores all instances, and fewer are left by the next",
      ],
    ],
    "A command is": [
      [apiSettings, "%s cannot be %j; the message names the field"],
      [commandLength, "a command line of 4,096 characters is one"],
      [start, "%s after %s"],
    ],
    "For editors, `node": [
      [apiSettings, "the JSON Schema for editors describes every setting and refuses other fields"],
    ],
    "| `rootDirectory` |": [
      [apiSettings, "%s may be %j"],
      [apiSettings, "%s cannot be %j; the message names the field"],
      [analysisSettings, "chooses one app of several, whatever way it is written"],
    ],
    "| `installCommand`, `buildCommand`": [
      [apiSettings, "%s may be %j"],
      [analysisSettings, "that are empty skip install and build"],
    ],
    "| `startCommand` |": [
      [apiSettings, "%s cannot be %j; the message names the field"],
      [analysisSettings, "take the place of the detected ones"],
    ],
    "| `releaseCommand` |": [
      [apiSettings, "%s may be %j"],
      [
        settings,
        "a release command runs once in the new image, before the new version, with its output masked in the log; meanwhile the build is deploying and cannot be canceled",
      ],
    ],
    "| `healthPath` |": [
      [apiSettings, "%s cannot be %j; the message names the field"],
      [settings, "several instances serve, at the health path that was set"],
    ],
    "| `healthTimeoutSeconds` |": [
      [apiSettings, "%s cannot be %j; the message names the field"],
      [apiSettings, "%s may be %j"],
    ],
    "| `memory` |": [
      [apiSettings, "%s cannot be %j; the message names the field"],
      [apiSettings, "%s may be %j"],
    ],
    "| `instances` |": [
      [apiSettings, "%s cannot be %j; the message names the field"],
      [settings, "several instances serve, at the health path that was set"],
    ],
  },
  "Release command": {
    "Runs once for": [
      [
        settings,
        "a release command runs once in the new image, before the new version, with its output masked in the log; meanwhile the build is deploying and cannot be canceled",
      ],
      [release, "on a slow and faulty AWS a release command runs once"],
    ],
    "It is the": [
      [
        settings,
        "a release command runs once in the new image, before the new version, with its output masked in the log; meanwhile the build is deploying and cannot be canceled",
      ],
    ],
    "Its output is": [
      [
        settings,
        "a release command runs once in the new image, before the new version, with its output masked in the log; meanwhile the build is deploying and cannot be canceled",
      ],
    ],
    "The build's status": [
      [
        settings,
        "a release command runs once in the new image, before the new version, with its output masked in the log; meanwhile the build is deploying and cannot be canceled",
      ],
    ],
    "With exit code": [
      [settings, "a release command that fails ends the build with its last output, and nothing was swapped"],
      [release, "a release command that does not end in time is stopped, and its build ends with the reason"],
    ],
    "If the service": [
      [release, "an execution that is aborted leaves no release command running"],
      [release, "on a slow and faulty AWS a release command runs once"],
    ],
  },
};
