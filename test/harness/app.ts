import { setTimeout as sleep } from "node:timers/promises";
import { ZipFile } from "yazl";
import type { Answer, Running } from "./service.ts";

/** A zip of these files, by path. */
export async function zipOf(files: Record<string, string | Buffer>): Promise<Buffer<ArrayBuffer>> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path);
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** A Node.js app without dependencies; `body` is the code of its request listener. */
export function nodeApp(body: string, before = ""): Record<string, string> {
  return {
    "package.json": JSON.stringify({ name: "app", private: true, scripts: { start: "node server.js" } }),
    "server.js": `const { createServer } = require("node:http");\n${before}\ncreateServer((req, res) => { ${body} }).listen(process.env.PORT, () => console.log("up"));\n`,
  };
}

export const upload = (url: string, bytes: Uint8Array<ArrayBuffer>, contentType = "application/zip") =>
  fetch(url, { method: "PUT", headers: { "content-type": contentType }, body: bytes });

/** Repeats an upload that S3 answers with a temporary error, as clients do. */
export async function uploadPatiently(url: string, bytes: Uint8Array<ArrayBuffer>): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const put = await upload(url, bytes);
    if (put.status < 500 || tries === 5) return put;
    await put.arrayBuffer();
    await sleep(100 * tries);
  }
}

/** Polls until the build is finished; at longer and longer intervals, because each poll costs the service some work. */
export async function finished(
  running: Pick<Running, "call" | "project">,
  buildId: string,
  project = running.project,
): Promise<Answer["body"]> {
  for (let pauseMs = 200; ; pauseMs = Math.min(pauseMs * 1.4, 2_000)) {
    await sleep(pauseMs);
    const { body } = await running.call("GET", `${project}/builds/${buildId}`);
    if (["ready", "error"].includes(body.build.status) || body.build.canceledAt) return body.build;
  }
}

/** Polls until the build has this status. */
export async function reaches(running: Running, buildId: string, status: string): Promise<void> {
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 1.4, 200)) {
    const { body } = await running.call("GET", `${running.project}/builds/${buildId}`);
    if (body.build.status === status) return;
    if (["ready", "error"].includes(body.build.status))
      throw new Error(`The build ended as ${body.build.status}: ${body.build.error}`);
    await sleep(pauseMs);
  }
}

/** Creates a build, uploads these files, and returns the build's id. */
export async function begin(running: Running, files: Record<string, string | Buffer>, title?: string): Promise<string> {
  const created = await running.call("POST", `${running.project}/builds`, {
    body: title === undefined ? {} : { title },
  });
  if (created.status !== 201)
    throw new Error(`create-build answered ${created.status}: ${JSON.stringify(created.body)}`);
  const put = await uploadPatiently(created.body.url, await zipOf(files));
  if (put.status !== 200) throw new Error(`The upload answered ${put.status}: ${await put.text()}`);
  return created.body.build.id;
}

export async function deploy(
  running: Running,
  files: Record<string, string | Buffer>,
  title?: string,
): Promise<Answer["body"]> {
  return finished(running, await begin(running, files, title));
}

/** The project's address. */
export async function address(running: Running): Promise<string> {
  const { body } = await running.call("GET", `${running.project}/endpoints`);
  return body.endpoints[0];
}

/** The service bound to a new project of the seeded organization. */
export async function newProject(running: Running, name: string): Promise<Running> {
  const { organizationId } = running.seed;
  const { project } = await running.operator("create-project", { organizationId, name });
  return { ...running, project: `/organizations/${organizationId}/projects/${project?.id}` };
}
