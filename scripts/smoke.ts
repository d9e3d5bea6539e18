import { join } from "node:path";
import { parseArgs } from "node:util";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import * as z from "zod";
import { packFolder } from "../cli/folder/pack.ts";
import { selectFiles } from "../cli/folder/select-files.ts";
import { type Client, createClient } from "../sdk/client.ts";
import { uploadArchive } from "../sdk/upload-archive.ts";
import { waitForBuild } from "../sdk/wait-for-build.ts";
import { armBuildsAtOnce } from "./aws/build-quota.ts";
import { findDeployed } from "./aws/deployed.ts";

const usage = `Usage: npm run smoke -- --stack NAME

Makes an organization in a deployed service, deploys a good app and a broken one through the public API, and looks at
what the public gets.`;

const answer = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), output: z.unknown() }),
  z.object({ ok: z.literal(false), error: z.object({ message: z.string() }) }),
]);

async function operator<S extends z.ZodType>(
  lambda: LambdaClient,
  stack: string,
  [command, input]: [string, object],
  output: S,
): Promise<z.output<S>> {
  const Payload = Buffer.from(JSON.stringify({ command, input }));
  const result = await lambda.send(new InvokeCommand({ FunctionName: `${stack}-operator`, Payload }));
  const said = answer.parse(JSON.parse(Buffer.from(result.Payload ?? []).toString("utf8")));
  if (!said.ok) throw new Error(`${command}: ${said.error.message}`);
  return output.parse(said.output);
}

const withId = z.object({ id: z.string() });

/** An organization of its own for this run, with one project and a key. */
async function tenant(lambda: LambdaClient, stack: string) {
  const name = `smoke ${new Date().toISOString()}`;
  const { organization } = await operator(
    lambda,
    stack,
    ["create-organization", { name }],
    z.object({ organization: withId }),
  );
  const inOrganization = { organizationId: organization.id, name };
  const { project } = await operator(lambda, stack, ["create-project", inOrganization], z.object({ project: withId }));
  const key = z.object({ credential: z.object({ access: z.string(), secret: z.string() }) });
  const { credential } = await operator(lambda, stack, ["create-credential", { projectId: project.id }], key);
  return { orgId: organization.id, projectId: project.id, credential };
}

type Ids = { orgId: string; projectId: string };

async function deploy(client: Client, ids: Ids, example: string) {
  using archive = await packFolder(selectFiles(join(import.meta.dirname, "..", "examples", example)));
  const { build, url } = await client.createBuild({ ...ids, title: example });
  await uploadArchive(url, archive.path);
  const onStatus = ({ status }: { status: string }) => console.log(`  ${example}: ${status}`);
  return waitForBuild(client, { ...ids, buildId: build.id }, { onStatus });
}

function check(holds: boolean, claim: string): void {
  if (!holds) throw new Error(`NOT SO: ${claim}`);
  console.log(`ok  ${claim}`);
}

async function publicStatus(client: Client, ids: Ids): Promise<number> {
  const { endpoints } = await client.listEndpoints(ids);
  const [address] = endpoints;
  if (!address) return 0;
  return (await fetch(address, { signal: AbortSignal.timeout(10_000) })).status;
}

async function tellQuota(lambda: LambdaClient): Promise<void> {
  const [region, credentials] = await Promise.all([lambda.config.region(), lambda.config.credentials()]);
  const atOnce = await armBuildsAtOnce({ region, credentials, now: new Date() }).catch(() => undefined);
  if (atOnce === undefined) return console.log("--  Service Quotas does not say how many builds may run at once.");
  const advice =
    atOnce < 5 ? " Builds wait for each other: ask AWS for more (Service Quotas, CodeBuild, ARM/Small)." : "";
  console.log(`ok  ${atOnce} image builds may run at once.${advice}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { stack: { type: "string" } } });
  if (!values.stack) throw new Error(usage);
  const lambda = new LambdaClient();
  const deployed = await findDeployed(values.stack, lambda);
  await tellQuota(lambda);
  const { credential, ...ids } = await tenant(lambda, values.stack);
  const client = createClient({
    baseUrl: deployed.apiAddress,
    accessKey: credential.access,
    secretKey: credential.secret,
  });

  const good = await deploy(client, ids, "node-hello");
  check(good.status === "ready" && good.error === null, "a good app becomes ready");
  check(good.isLive, "it is live");
  check((await publicStatus(client, ids)) === 200, "the public gets 200 from its address");

  const broken = await deploy(client, ids, "broken-health");
  check(broken.status === "error" && broken.error !== null, "an app with a failing health check ends as error");
  check((await client.getBuild({ ...ids, buildId: good.id })).build.isLive, "the good app is live again");
  check((await publicStatus(client, ids)) === 200, "the public still gets 200");
  console.log(
    `Slipway ${values.stack} works at ${deployed.apiAddress}. The organization ${ids.orgId} can be left or reused.`,
  );
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
