import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import * as z from "zod";
import { packFolder } from "../../cli/folder/pack.ts";
import { selectFiles } from "../../cli/folder/select-files.ts";
import { type Client, createClient } from "../../sdk/client.ts";
import { uploadArchive } from "../../sdk/upload-archive.ts";
import { waitForBuild } from "../../sdk/wait-for-build.ts";

/** A running service: where its API answers and which function is its operator. */
export interface Service {
  apiAddress: string;
  operator: string;
  lambda: LambdaClient;
  /** The example that must not become live: one that answers 500 costs the minute that an app has to become well. */
  broken: "broken-health" | "crashes";
}

const answer = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), output: z.unknown() }),
  z.object({ ok: z.literal(false), error: z.object({ message: z.string() }) }),
]);

async function operate<S extends z.ZodType>(
  { lambda, operator }: Service,
  command: string,
  input: object,
  output: S,
): Promise<z.output<S>> {
  const Payload = Buffer.from(JSON.stringify({ command, input }));
  const result = await lambda.send(new InvokeCommand({ FunctionName: operator, Payload }));
  const said = answer.parse(JSON.parse(Buffer.from(result.Payload ?? []).toString("utf8")));
  if (!said.ok) throw new Error(`${command}: ${said.error.message}`);
  return output.parse(said.output);
}

const withId = z.object({ id: z.string() });

/** An organization of its own for this run, with one project and a key. */
async function tenant(service: Service) {
  const name = `smoke ${new Date().toISOString()}`;
  const made = z.object({ organization: withId });
  const { organization } = await operate(service, "create-organization", { name }, made);
  const owned = { organizationId: organization.id, name };
  const { project } = await operate(service, "create-project", owned, z.object({ project: withId }));
  const key = z.object({ credential: z.object({ access: z.string(), secret: z.string() }) });
  const { credential } = await operate(service, "create-credential", { projectId: project.id }, key);
  return { orgId: organization.id, projectId: project.id, credential };
}

type Ids = { orgId: string; projectId: string };
type Say = (line: string) => void;

async function deploy(client: Client, ids: Ids, example: string, say: Say) {
  using archive = await packFolder(selectFiles(join(import.meta.dirname, "..", "..", "examples", example)));
  const { build, url } = await client.createBuild({ ...ids, title: example });
  await uploadArchive(url, archive.path);
  const onStatus = ({ status }: { status: string }) => say(`    ${example}: ${status}`);
  return waitForBuild(client, { ...ids, buildId: build.id }, { onStatus });
}

async function publicStatus(client: Client, ids: Ids): Promise<number> {
  const { endpoints } = await client.listEndpoints(ids);
  const [address] = endpoints;
  if (!address) return 0;
  return (await fetch(address, { signal: AbortSignal.timeout(10_000) }).catch(() => ({ status: 0 }))).status;
}

/** What the public gets while `work` is done, twice a second: every status that is not 200. */
async function troubleDuring<T>(client: Client, ids: Ids, work: Promise<T>): Promise<{ result: T; trouble: number[] }> {
  const trouble: number[] = [];
  let isOver = false;
  const done = work.finally(() => {
    isOver = true;
  });
  const watching = (async () => {
    for (; !isOver; await sleep(500)) {
      const status = await publicStatus(client, ids);
      if (status !== 200) trouble.push(status);
    }
  })();
  const [result] = await Promise.all([done, watching]);
  return { result, trouble };
}

/**
 * Makes an organization, deploys a good app and a broken one, and looks at what the public gets. Throws at
 * the first promise that is not kept; returns the organization's id.
 */
export async function smokeTest(service: Service, say: Say): Promise<string> {
  const check = (holds: boolean, claim: string) => {
    if (!holds) throw new Error(`Failed: ${claim}. Look at the functions' logs in CloudWatch.`);
    say(`ok  ${claim}`);
  };
  const { credential, ...ids } = await tenant(service);
  const keys = { accessKey: credential.access, secretKey: credential.secret };
  const client = createClient({ baseUrl: service.apiAddress, ...keys });

  const good = await deploy(client, ids, "node-hello", say);
  check(good.status === "ready" && good.error === null, "a good app becomes ready");
  check(good.isLive, "it is live");
  check((await publicStatus(client, ids)) === 200, "the public gets 200 from its address");

  const bad = deploy(client, ids, service.broken, say);
  const { result: broken, trouble } = await troubleDuring(client, ids, bad);
  check(broken.status === "error" && broken.error !== null, "a broken app ends as error");
  check(trouble.length === 0, "meanwhile the public got 200 from every request");
  check((await client.getBuild({ ...ids, buildId: good.id })).build.isLive, "the good app is live as before");
  check((await publicStatus(client, ids)) === 200, "the public still gets 200");
  return ids.orgId;
}
