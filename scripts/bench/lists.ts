import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Build } from "../../lambdas/builds/model/rows.ts";
import { newBuild } from "../../lambdas/builds/model/transitions.ts";
import { newId } from "../../lambdas/table/ids.ts";
import { jsonOf, type Measured, median, type ServiceProcess, startProcess } from "./measure.ts";

/** Writes finished builds of a project directly into the service's table. */
async function seedBuilds(
  service: ServiceProcess,
  organizationId: string,
  projectId: string,
  count: number,
): Promise<void> {
  const ports = JSON.parse(readFileSync(join(service.home, "ports.json"), "utf8"));
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const endpoint = `http://127.0.0.1:${ports.dynamodb}`;
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: "us-east-1", credentials }), {
    marshallOptions: { removeUndefinedValues: true },
  });
  for (let first = 0; first < count; first += 25) {
    const requests = Array.from({ length: Math.min(25, count - first) }, (_, index) => {
      const now = new Date(Date.UTC(2026, 0, 1) + (first + index) * 1000);
      const source = { kind: "upload" as const };
      const made = { id: newId("bld", now), organizationId, projectId, title: null, description: null, source };
      const { row } = newBuild(made, now);
      return { PutRequest: { Item: { ...row, status: "error" as const, ...Build.key({ projectId, id: row.id }) } } };
    });
    await client.send(new BatchWriteCommand({ RequestItems: { slipway: requests } }));
  }
  client.destroy();
}

async function p50(service: ServiceProcess, project: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 130; round += 1) {
    const began = performance.now();
    await jsonOf(fetch(`${project}/builds`, { headers: { authorization: `Bearer ${service.key}` } }));
    if (round >= 30) times.push(performance.now() - began);
  }
  return median(times);
}

/** Compares the first page of builds for a project with many builds and one with few. */
export async function benchLists(): Promise<Measured[]> {
  const service = await startProcess();
  try {
    const seed = JSON.parse(readFileSync(join(service.home, "local.json"), "utf8"));
    await seedBuilds(service, seed.organizationId, seed.projectId, 1_000);
    const young = await p50(service, service.project);
    await seedBuilds(service, seed.organizationId, seed.projectId, 99_000);
    const old = await p50(service, service.project);
    const detail = `p50 ${old.toFixed(1)} ms with 100,000 builds, ${young.toFixed(1)} ms with 1,000`;
    return [{ name: "list of builds: 100,000 / 1,000", ratio: old / young, bound: 1.2, detail }];
  } finally {
    await service.stop();
    rmSync(service.home, { recursive: true, force: true });
  }
}
