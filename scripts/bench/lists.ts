import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Build } from "../../lambdas/builds/model/rows.ts";
import { newBuild } from "../../lambdas/builds/model/transitions.ts";
import { ProjectEntry } from "../../lambdas/http/model/project.ts";
import { newProject } from "../../lambdas/projects/model/project.ts";
import { newId } from "../../lambdas/table/ids.ts";
import { jsonOf, type Measured, median, type ServiceProcess, startOnTable } from "./measure.ts";

interface Seed {
  organizationId: string;
  projectId: string;
}
const timeOf = (index: number) => new Date(Date.UTC(2026, 0, 1) + index * 1000);

/** A finished build of the project. */
function buildItem({ organizationId, projectId }: Seed, index: number): object {
  const now = timeOf(index);
  const source = { kind: "upload" as const };
  const made = { id: newId("bld", now), organizationId, projectId, title: null, description: null, source };
  const { row } = newBuild(made, now);
  return { ...row, status: "error", ...Build.key({ projectId, id: row.id }) };
}

/** A project in the organization's list. */
function projectItem({ organizationId }: Seed, index: number): object {
  const { secret: _, ...entry } = newProject({ organizationId, name: `Project ${index}` }, timeOf(index)).row;
  return { ...entry, ...ProjectEntry.key(entry) };
}

/** Writes rows directly into the service's table, numbered from `first`. */
async function write(endpoint: string, item: (index: number) => object, first: number, count: number) {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: "us-east-1", credentials }), {
    marshallOptions: { removeUndefinedValues: true },
  });
  for (let from = first; from < first + count; from += 25) {
    const requests = Array.from({ length: Math.min(25, first + count - from) }, (_, index) => ({
      PutRequest: { Item: item(from + index) },
    }));
    await client.send(new BatchWriteCommand({ RequestItems: { slipway: requests } }));
  }
  client.destroy();
}

async function p50(service: ServiceProcess, url: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 130; round += 1) {
    const began = performance.now();
    await jsonOf(fetch(url, { headers: { authorization: `Bearer ${service.key}` } }));
    if (round >= 30) times.push(performance.now() - began);
  }
  return median(times);
}

/** Compares the first page of builds and of projects: many rows against few. */
export async function benchLists(): Promise<Measured[]> {
  const service = await startOnTable();
  try {
    const seed: Seed = JSON.parse(readFileSync(join(service.home, "local.json"), "utf8"));
    const lists = [
      { what: "builds", few: 1_000, many: 100_000, item: buildItem, url: `${service.project}/builds` },
      { what: "projects", few: 100, many: 10_000, item: projectItem, url: service.project.replace(/\/[^/]+$/, "") },
    ];
    const measured: Measured[] = [];
    for (const { what, few, many, item, url } of lists) {
      const place = (index: number) => item(seed, index);
      await write(service.table, place, 0, few);
      const short = await p50(service, url);
      await write(service.table, place, few, many - few);
      const long = await p50(service, url);
      const [more, less] = [many.toLocaleString("en"), few.toLocaleString("en")];
      const detail = `p50 ${long.toFixed(1)} ms with ${more} ${what}, ${short.toFixed(1)} ms with ${less}`;
      measured.push({ name: `list of ${what}: ${more} / ${less}`, ratio: long / short, bound: 1.2, detail });
    }
    return measured;
  } finally {
    await service.stop();
    rmSync(service.home, { recursive: true, force: true });
  }
}
