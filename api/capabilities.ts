/**
 * What a handler may touch. `lib/` turns each word into explicit IAM actions, `lambdas/http` into the one object
 * a handler receives, so that touching anything undeclared neither compiles nor is allowed at run time.
 */
export const capabilities = [
  /** Read the table: BatchGetItem, GetItem, Query. */
  "table:read",
  /** Write the table: the actions behind TransactWriteItems. */
  "table:write",
  /** Read every row of the table: Scan. */
  "table:scan",
  /** Record when a key was last used: UpdateItem alone. Every route that proves its caller has it (`capabilitiesOf`). */
  "keys:record-use",
  /** Record the event of a change in a write of its own: UpdateItem alone. Every route that proves its caller and records events has it. */
  "events:record",
  /** Record what serves a project, as just read from ECS: UpdateItem alone. */
  "live-build:cache",
  /** Update a file's entry to what S3 holds: UpdateItem alone. */
  "files:follow",
  /** Sign an upload address for a source archive. */
  "archives:upload",
  /** Read source archives, by version. */
  "archives:read",
  /** Copy a source archive to a new build. */
  "archives:copy",
  /** Write what the image build reads: plan, Dockerfile, variables. */
  "artifacts:write",
  /** Start, look up and restart deployment executions. */
  "deployments:start",
  /** End the execution of a build. */
  "deployments:stop",
  /** Start and look up executions that remove what was deleted. */
  "removals:start",
  /** Delete every version of a project's source archives, and the values that its builds were made with. */
  "archives:remove",
  /** Delete a project's image repository. */
  "images:remove",
  /** Delete the output of a project's builds and apps. */
  "output:remove",
  /** Answer the task token of a waiting deployment. */
  "deployments:resume",
  /** Read what ECS serves. */
  "apps:read",
  /** Find the project of a running task. */
  "apps:identify",
  /** See whether a service deployment of the app runs. */
  "apps:watch",
  /** Register task definitions, create and update the app's service. */
  "apps:deploy",
  /** See which instances of an app ended by themselves. */
  "apps:exits",
  /** Run one command in a task of its own, in an app's image. */
  "apps:run",
  /** Stop the task of a build's release command. */
  "releases:stop",
  /** Delete the app's service. */
  "apps:remove",
  /** Deregister and delete the task definitions of deleted projects. */
  "task-definitions:remove",
  /** Continue or roll back a running service deployment. */
  "apps:switch",
  /** Read the values of variables that builds were made with, to mask them in output. */
  "build-values:read",
  /** Read build output and app output. */
  "logs:read",
  /** Read the output of a project's running apps. */
  "app-output:read",
  /** Read the measurements of a project's running app. */
  "app-metrics:read",
  /** Replay a deployed app's identity proof to STS. */
  "identity:prove",
  /** Record a new bearer token and the use of a console session: UpdateItem alone. */
  "console-sessions:renew",
  /** Know the address of this service, to call its routes. */
  "service:call",
  /** Know the address of the console, for links to it. */
  "console:locate",
  /** Know the addresses that browsers send archives and files to. */
  "uploads:locate",
  /** Know whether requests to a custom domain reach its app. */
  "domains:route",
  /** Sign upload and download addresses of stored files. */
  "files:sign",
  /** Look at stored files. */
  "files:look",
  /** Delete stored files. */
  "files:remove",
  /** Run statements in the organization's databases. */
  "databases:run",
  /** Look up a running image build, create its project's repository, and give the build access to its inputs and that repository. */
  "image-builds:grant",
  /** List and delete images of projects. */
  "images:expire",
] as const;

export type Capability = (typeof capabilities)[number];
