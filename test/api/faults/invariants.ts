import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand, QueryCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { isFinished } from "../../../lambdas/builds/model/replies.ts";
import { Build, Lock } from "../../../lambdas/builds/model/rows.ts";
import { Variable } from "../../../lambdas/environments/model/rows.ts";
import { ProjectKeys } from "../../../lambdas/http/model/credentials.ts";

const row = z.looseObject({ pk: z.string(), sk: z.string() });
export type Row = z.infer<typeof row>;

/** Direct access to the table, without the service. */
export interface DirectTable {
  /** Every row. */
  rows(): Promise<Row[]>;
  /** A project's own rows, and those of the keys that it lists. */
  rowsOf(projectId: string): Promise<Row[]>;
  /** Writes or replaces a row. */
  put(row: Row): Promise<void>;
  close(): void;
}

export function directTable(endpoint: string): DirectTable {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: "us-east-1", credentials }));
  const TableName = "slipway";

  async function rows(): Promise<Row[]> {
    const found: Row[] = [];
    let start: Record<string, unknown> | undefined;
    do {
      const page = await client.send(new ScanCommand({ TableName, ConsistentRead: true, ExclusiveStartKey: start }));
      found.push(...(page.Items ?? []).map((item) => row.parse(item)));
      start = page.LastEvaluatedKey;
    } while (start);
    return found;
  }

  async function partition(pk: string): Promise<Row[]> {
    const found: Row[] = [];
    let start: Record<string, unknown> | undefined;
    do {
      const query = {
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": pk },
        ConsistentRead: true,
        ExclusiveStartKey: start,
      };
      const page = await client.send(new QueryCommand({ TableName, ...query }));
      found.push(...(page.Items ?? []).map((item) => row.parse(item)));
      start = page.LastEvaluatedKey;
    } while (start);
    return found;
  }

  return {
    rows,
    async rowsOf(projectId) {
      const own = await partition(`PRJ#${projectId}`);
      const ring = own.find(({ sk }) => sk === "KEYS");
      const listed = ring ? ProjectKeys.read(ring).keys : [];
      const keys = await Promise.all(listed.map(({ access }) => partition(`KEY#${access}`)));
      return [...own, ...keys.flat()];
    },
    put: async (item) => void (await client.send(new PutCommand({ TableName, Item: item }))),
    close: () => client.destroy(),
  };
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

/** Describes incomplete rows in the table; empty if every rule between rows holds (docs/data-model.md, Rules between rows). */
export function brokenRules(rows: Row[]): string[] {
  const keys = rows.filter(({ pk }) => pk.startsWith("KEY#"));
  const projects = new Set(rows.map(({ pk }) => pk).filter((pk) => pk.startsWith("PRJ#")));
  return [...projects].flatMap((project) => {
    const own = rows.filter(({ pk }) => pk === project);
    return [...brokenBuilds(project, own), ...brokenKeys(project, own, keys), ...brokenVariables(own)];
  });
}
