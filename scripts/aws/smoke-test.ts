import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LambdaClient } from "@aws-sdk/client-lambda";
import * as z from "zod";
import { createClient } from "../../sdk/client.ts";
import type { Client } from "../../sdk/client-types.ts";
import { packFolder } from "../../sdk/folder/pack.ts";
import { selectFiles } from "../../sdk/folder/select-files.ts";
import { uploadArchive } from "../../sdk/upload-archive.ts";
import { waitForBuild } from "../../sdk/wait-for-build.ts";
import { type AppCluster, hookDelaySeconds } from "./hook-delay.ts";
import { invokeOperator } from "./invoke-operator.ts";

/** A running service: the address of its API and its operator function. */
export interface Service {
  apiAddress: string;
  operator: string;
  lambda: LambdaClient;
  apps: AppCluster;
  /** The example that must not become live. "broken-health" answers 500, so its check takes a minute longer than "crashes". */
  broken: "broken-health" | "crashes";
}

async function operate<S extends z.ZodType>(
  { lambda, operator }: Service,
  command: string,
  input: object,
  output: S,
): Promise<z.output<S>> {
  return output.parse(await invokeOperator(lambda, operator, command, input));
}

const withId = z.object({ id: z.string() });

/** Creates an organization for this run, with one project and a key. */
async function createTenant(service: Service) {
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
type Print = (line: string) => void;

async function deploy(client: Client, ids: Ids, example: string, print: Print) {
  using archive = await packFolder(selectFiles(join(import.meta.dirname, "..", "..", "examples", example)));
  const { build, url } = await client.createBuild({ ...ids, title: example });
  await uploadArchive(url, archive.path);
  const onStatus = ({ status }: { status: string }) => print(`    ${example}: ${status}`);
  return waitForBuild(client, { ...ids, buildId: build.id }, { onStatus });
}

async function publicStatus(client: Client, ids: Ids): Promise<number> {
  const { endpoints } = await client.listEndpoints(ids);
  const [address] = endpoints;
  if (!address) return 0;
  return (await fetch(address, { signal: AbortSignal.timeout(10_000) }).catch(() => ({ status: 0 }))).status;
}

/** Requests the app twice a second while `work` runs; returns every status that is not 200. */
async function failuresDuring<T>(
  client: Client,
  ids: Ids,
  work: Promise<T>,
): Promise<{ result: T; failures: number[] }> {
  const failures: number[] = [];
  let isOver = false;
  const done = work.finally(() => {
    isOver = true;
  });
  const watching = (async () => {
    for (; !isOver; await sleep(500)) {
      const status = await publicStatus(client, ids);
      if (status !== 200) failures.push(status);
    }
  })();
  const [result] = await Promise.all([done, watching]);
  return { result, failures };
}

/** ECS may describe tasks and deployments otherwise than expected, which must not fail the test. */
async function printHookDelay({ apps }: Service, projectId: string, buildId: string, print: Print): Promise<void> {
  const seconds = await hookDelaySeconds(apps, { projectId, buildId }).catch(() => undefined);
  print(`--  from RUNNING to the open hook: ${seconds === undefined ? "unknown" : `${seconds.toFixed(1)} s`}`);
}

/**
 * Creates an organization, deploys a broken app, a working one and again a broken one to its project, and checks the
 * answers of the app's public address. Throws at the first failed check; returns the organization's id.
 */
export async function smokeTest(service: Service, print: Print): Promise<string> {
  const check = (holds: boolean, guarantee: string) => {
    if (!holds) throw new Error(`Failed: ${guarantee}. Look at the functions' logs in CloudWatch.`);
    print(`ok  ${guarantee}`);
  };
  const { credential, ...ids } = await createTenant(service);
  const keys = { accessKey: credential.access, secretKey: credential.secret };
  const client = createClient({ baseUrl: service.apiAddress, ...keys });

  const first = await deploy(client, ids, service.broken, print);
  check(first.status === "error" && first.error !== null, "a broken first deployment ends with status error");
  check(!first.isLive, "it is not live");
  check((await publicStatus(client, ids)) !== 200, "nothing serves");

  const good = await deploy(client, ids, "node-hello", print);
  check(good.status === "ready" && good.error === null, "a working app becomes ready");
  check(good.isLive, "it is live");
  check((await publicStatus(client, ids)) === 200, "its address answers 200");
  await printHookDelay(service, ids.projectId, good.id, print);

  const bad = deploy(client, ids, service.broken, print);
  const { result: broken, failures } = await failuresDuring(client, ids, bad);
  check(broken.status === "error" && broken.error !== null, "a broken app ends with status error");
  check(failures.length === 0, "meanwhile every public request got 200");
  check((await client.getBuild({ ...ids, buildId: good.id })).build.isLive, "the working app is still live");
  check((await publicStatus(client, ids)) === 200, "its address still answers 200");
  return ids.orgId;
}
