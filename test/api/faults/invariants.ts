import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { isFinished } from "../../../lambdas/builds/model/replies.ts";
import { Build, Lock } from "../../../lambdas/builds/model/rows.ts";
import { Variable } from "../../../lambdas/environments/model/rows.ts";
import { ProjectKeys } from "../../../lambdas/http/model/credentials.ts";

const row = z.looseObject({ pk: z.string(), sk: z.string() });
export type Row = z.infer<typeof row>;

function directClient(endpoint: string): DynamoDBDocumentClient {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: "us-east-1", credentials }));
}

/** Replaces a row, past the service. */
export async function changeRow(endpoint: string, row: Row): Promise<void> {
  const client = directClient(endpoint);
  await client.send(new PutCommand({ TableName: "slipway", Item: row }));
  client.destroy();
}

/** Every row of the table, read past the service. */
export async function allRows(endpoint: string): Promise<Row[]> {
  const client = directClient(endpoint);
  const rows: Row[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({ TableName: "slipway", ConsistentRead: true, ExclusiveStartKey: start }),
    );
    rows.push(...(page.Items ?? []).map((item) => row.parse(item)));
    start = page.LastEvaluatedKey;
  } while (start);
  client.destroy();
  return rows;
}

function brokenBuilds(project: string, rows: Row[]): string[] {
  const broken: string[] = [];
  const builds = rows.filter(({ sk }) => sk.startsWith("BLD#")).map((item) => Build.read(item));
  const lock = rows.filter(({ sk }) => sk === "LOCK").map((item) => Lock.read(item))[0];
  for (const build of builds) {
    if (build.canceledAt !== undefined && ["deploying", "ready"].includes(build.status))
      broken.push(`${build.id} is canceled and ${build.status}`);
    if (!isFinished(build) && lock?.buildId !== build.id)
      broken.push(`${build.id} runs (${build.status}) without its project's lock`);
  }
  const holder = builds.find((build) => build.id === lock?.buildId);
  if (lock && (!holder || isFinished(holder)))
    broken.push(`${project} is locked by ${lock.buildId}, which is finished`);
  if (lock && holder && lock.status !== holder.status)
    broken.push(`the lock says ${lock.status}, its build ${holder.status}`);
  const successes = z.array(z.string()).parse(rows.find(({ sk }) => sk === "READY")?.buildIds ?? []);
  const ready = builds.filter(({ status }) => status === "ready").map(({ id }) => id);
  const newest = ready.sort().reverse().slice(0, 11);
  if (JSON.stringify(successes) !== JSON.stringify(newest))
    broken.push(`the remembered successes are ${successes}, not ${newest}`);
  return broken;
}

function brokenKeys(project: string, rows: Row[], keys: Row[]): string[] {
  const ring = rows.filter(({ sk }) => sk === "KEYS").map((item) => ProjectKeys.read(item))[0];
  const ringed = (ring?.keys ?? []).map(({ id, access }) => `${id} ${access}`).sort();
  const own = keys
    .filter((key) => key.manual && project === `PRJ#${key.projectId}`)
    .map((key) => `${key.credentialId} ${key.access}`);
  const broken: string[] = [];
  if (JSON.stringify(own.sort()) !== JSON.stringify(ringed))
    broken.push(`the ring holds ${ringed}, but the keys are ${own}`);
  if ((ring?.held ?? 0) !== ringed.length || ringed.length > 3)
    broken.push(`${ring?.held} held, ${ringed.length} on the ring`);
  return broken;
}

function brokenVariables(rows: Row[]): string[] {
  const variables = rows.filter(({ sk }) => sk.startsWith("ENV#")).map((item) => Variable.read(item));
  const names = rows
    .filter(({ sk }) => sk.startsWith("ENVNAME#"))
    .map((item) => `${item.sk.slice("ENVNAME#".length)} ${item.id}`);
  const broken: string[] = [];
  const expected = variables.map(({ id, name }) => `${name} ${id}`).sort();
  if (JSON.stringify(names.sort()) !== JSON.stringify(expected))
    broken.push(`names ${names} for variables ${expected}`);
  const totals = rows.find(({ sk }) => sk === "ENVCOUNT");
  const count = totals?.count ?? 0;
  if (count !== variables.length || variables.length > 500)
    broken.push(`counted ${count}, there are ${variables.length}`);
  const bytes = variables.reduce((sum, { name, value }) => sum + Buffer.byteLength(name + value), 0);
  if (totals && totals.bytes !== bytes) broken.push(`counted ${totals.bytes} bytes, there are ${bytes}`);
  return broken;
}

/** What is half-made in the table, in words; empty when every rule between rows holds (docs/data-model.md, Rules between rows). */
export function brokenRules(rows: Row[]): string[] {
  const keys = rows.filter(({ pk }) => pk.startsWith("KEY#"));
  const projects = new Set(rows.map(({ pk }) => pk).filter((pk) => pk.startsWith("PRJ#")));
  return [...projects].flatMap((project) => {
    const own = rows.filter(({ pk }) => pk === project);
    return [...brokenBuilds(project, own), ...brokenKeys(project, own, keys), ...brokenVariables(own)];
  });
}
