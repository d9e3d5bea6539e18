import { routes } from "../../../api/index.ts";
import { limits } from "../../../api/limits.ts";

const introduction = `# Slipway

> A deployment service. A client creates a build, uploads a zip, and polls; the service detects the runtime (Node.js or Python), builds an
> image, starts it, checks its health, and restores the previous version if the new one is not healthy.

All requests and answers are JSON. Paths are relative to the address of this service.

## Authentication

Send \`Authorization: Bearer <ACCESS_KEY>:<SECRET_KEY>\`, or \`Authorization: Bearer <TOKEN>\` with a personal access token.
\`GET /organizations\` answers the organizations that the credential reaches.

## Deploy an application

1. \`POST /organizations/{orgId}/projects/{projectId}/builds\` answers 201 with \`{build, url}\`. A 409 \`build_in_progress\` names the running build.
2. \`PUT\` the zip to \`url\` within one hour, with \`Content-Type: application/zip\` and without any credential.
3. Read \`GET /organizations/{orgId}/projects/{projectId}/builds/{buildId}\` as often as \`Retry-After\` says, until \`status\` is \`ready\` or \`error\`, or
   \`canceledAt\` is set. \`error\` says what went wrong, \`suggestion\` and \`warning\` what to improve.
4. \`GET /organizations/{orgId}/projects/{projectId}/endpoints\` answers the addresses of the app.

The archive is the source of the app, with its lock file and without \`node_modules\`. No Dockerfile is needed. The app listens on the port in \`PORT\`,
on all interfaces, and answers \`GET /\` with a status below 500. Environment variables are baked in at build time: after a change, call
\`POST …/rebuild\`. One build of a project runs at a time.

## Errors

\`{status, message, code, requestId}\`; a 400 adds \`issues: [{path, message}]\`. Retry 429 and 503 after \`Retry-After\`. A POST with an
\`Idempotency-Key\` header can be repeated for 24 hours.

## Lists

Lists with \`limit\` and \`cursor\` answer \`nextCursor\`, which is null at the end. Builds: at most ${limits.buildsPageMax} a page, files: ${limits.filesPageMax}.
`;

/** The interface in short, for language models (llmstxt.org): what it does, how to use it, and every route. */
export function llmsText(): string {
  const byResource = Map.groupBy(routes, ({ resource }) => resource);
  const sections = [...byResource].map(([resource, list]) => {
    const lines = list.map(({ method, path, definition }) => `- \`${method} ${path}\`: ${definition.summary}`);
    return [`## Routes: ${resource}`, "", ...lines].join("\n");
  });
  const more =
    "## More\n\n- [OpenAPI 3.1 document](/openapi.json): every parameter, body and answer\n- [Reference](/docs): the same to read and try\n";
  return [introduction, ...sections.map((section) => `${section}\n`), more].join("\n");
}
