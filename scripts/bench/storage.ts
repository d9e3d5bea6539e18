import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { DynamoDBDocumentClient, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { newFiles } from "../../lambdas/storage/model/files.ts";
import { jsonOf, type Measured, median, type ServiceOnTable, startOnTable } from "./measure.ts";

const filesPerRequest = 100;
const uploadBytes = 300 * 1024 * 1024;
const uploadMiBMax = 150;
const tableName = "slipway";

interface Bench {
  service: ServiceOnTable;
  organizationId: string;
  storageId: string;
  table: DynamoDBDocumentClient;
}

const wanted = Array.from({ length: filesPerRequest }, (_, index) => ({
  name: `file-${index}.txt`,
  mime: "text/plain",
}));

function call({ service, organizationId }: Bench, method: string, path: string, body?: unknown) {
  return jsonOf(
    fetch(`${service.baseUrl}/organizations/${organizationId}/storages/${path}`, {
      method,
      headers: { authorization: `Bearer ${service.key}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
}

function rowsOf(storageId: string, count: number, at: Date) {
  const files = Array.from({ length: count }, (_, index) => wanted[index % filesPerRequest] ?? { name: "", mime: "/" });
  return newFiles(storageId, files, at).map((row) => ({ ...row, pk: `STO#${storageId}`, sk: `FIL#${row.id}` }));
}

const putOf = (Item: Record<string, unknown>) => ({ Put: { TableName: tableName, Item } });

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

/** Sets the environment of a Lambda that uses the embedded services of the running local service. */
function setLambdaEnvironment({ service }: Bench): void {
  const { accessKeyId, secretAccessKey } = runtimeOf(service);
  const ports = JSON.parse(readFileSync(join(service.home, "ports.json"), "utf8"));
  Object.assign(process.env, {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: service.table,
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${ports.s3}`,
    AWS_ENDPOINT_URL_STS: runtimeOf(service).stsEndpoint,
    TABLE_NAME: tableName,
    FILES_BUCKET: "slipway-files",
    FILES_SIGNER_ROLE: "arn:aws:iam::000000000000:role/slipway-files-signer",
  });
}

interface Runtime {
  awsEndpoint: string;
  stsEndpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
}

function runtimeOf(service: ServiceOnTable): Runtime {
  return JSON.parse(readFileSync(join(service.home, "runtime.json"), "utf8"));
}

function createFilesEvent({ service, organizationId, storageId }: Bench) {
  const headers = { authorization: `Bearer ${service.key}` };
  const pathParameters = { orgId: organizationId, storageId };
  const body = JSON.stringify({ files: wanted });
  return { rawPath: "", headers, pathParameters, requestContext: { requestId: "bench" }, body, isBase64Encoded: false };
}

/**
 * Compares the handler with its transaction alone: it also checks credential and storage, and signs a hundred addresses.
 * The bound is for signing that costs little. The SDK's signer takes 5 to 6 ms for a hundred addresses, with one signer,
 * one date, a cached key and node:crypto: a quarter escapes the session token twice for each, a third prepares three keys
 * for each. While the table writes, that overlaps only where a second processor runs the table.
 */
async function benchPrepare(bench: Bench): Promise<Measured[]> {
  setLambdaEnvironment(bench);
  const { handler } = await import("../../lambdas/storage/create-files.ts");
  const event = createFilesEvent(bench);
  const bare = () => {
    const rows = rowsOf("sto_bare", filesPerRequest, new Date());
    return bench.table.send(new TransactWriteCommand({ TransactItems: rows.map(putOf) }));
  };
  const invoke = async () => {
    const answer = await (handler as unknown as (event: unknown, context: object) => Promise<{ statusCode: number }>)(
      event,
      { getRemainingTimeInMillis: () => 25_000 },
    );
    if (answer.statusCode !== 201) throw new Error("The files were not prepared");
  };
  const overHttp = async () => {
    const { files } = await call(bench, "POST", `${bench.storageId}/files`, { files: wanted });
    if (files?.length !== filesPerRequest) throw new Error("The files were not prepared");
  };
  const times: { ours: number; whole: number; theirs: number }[] = [];
  for (let round = 0; round < 160; round += 1) {
    const one = { ours: await timed(invoke), theirs: await timed(bare), whole: await timed(overHttp) };
    if (round >= 80) times.push(one);
  }
  const [ours, theirs, whole] = (["ours", "theirs", "whole"] as const).map((name) =>
    median(times.map((one) => one[name])),
  ) as [number, number, number];
  const against = `ms against ${theirs.toFixed(1)} ms of the bare TransactWriteItems`;
  const name = "storage: prepare 100 files / transaction";
  return [
    { name: `${name}, the handler`, ratio: ours / theirs, bound: 1.3, detail: `${ours.toFixed(1)} ${against}` },
    { name: `${name}, over HTTP`, ratio: whole / theirs, bound: null, detail: `${whole.toFixed(1)} ${against}` },
  ];
}

async function fill({ table, service, organizationId }: Bench, count: number): Promise<string> {
  const stored = await operator(service, "create-storage", { organizationId, name: `${count} files` });
  const storageId: string = stored.storage.id;
  for (let made = 0; made < count; made += filesPerRequest) {
    const rows = rowsOf(storageId, filesPerRequest, new Date(Date.now() - made));
    await table.send(new TransactWriteCommand({ TransactItems: rows.map(putOf) }));
  }
  return storageId;
}

async function operator(service: ServiceOnTable, command: string, input: object) {
  const { awsEndpoint: endpoint, ...credentials } = runtimeOf(service);
  const lambda = new LambdaClient({ endpoint, region: "us-east-1", credentials });
  const Payload = Buffer.from(JSON.stringify({ command, input }));
  const answer = await lambda.send(new InvokeCommand({ FunctionName: "operator", Payload }));
  lambda.destroy();
  return JSON.parse(Buffer.from(answer.Payload ?? []).toString("utf8")).output;
}

async function benchList(bench: Bench): Promise<Measured> {
  const [small, large] = [await fill(bench, 1_000), await fill(bench, 100_000)];
  const list = async (storageId: string) => {
    const page = await call(bench, "GET", `${storageId}/files`);
    if (page.files?.length !== 50 || page.nextCursor === null) throw new Error("The list is not a full page");
  };
  const smallMs: number[] = [];
  const largeMs: number[] = [];
  for (let round = 0; round < 250; round += 1) {
    const [one, other] = [await timed(() => list(small)), await timed(() => list(large))];
    if (round < 50) continue;
    smallMs.push(one);
    largeMs.push(other);
  }
  const detail = `p50 ${median(largeMs).toFixed(1)} ms against ${median(smallMs).toFixed(1)} ms`;
  return {
    name: "storage: list of 100,000 files / of 1,000",
    ratio: median(largeMs) / median(smallMs),
    bound: 1.2,
    detail,
  };
}

function peakMiB(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}

async function put(url: string): Promise<number> {
  const piece = Buffer.alloc(256 * 1024, "slipway ");
  function* pieces() {
    for (let sent = 0; sent < uploadBytes; sent += piece.length) yield piece;
  }
  const headers = { "content-type": "text/plain", "content-length": uploadBytes };
  const sent = request(url, { method: "PUT", headers });
  const answered = new Promise<number>((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
  });
  await pipeline(Readable.from(pieces()), sent);
  return answered;
}

/** The service's peak memory during an upload, from /proc (Linux). */
async function benchUpload(bench: Bench): Promise<Measured> {
  const { pid } = bench.service;
  const { files } = await call(bench, "POST", `${bench.storageId}/files`, { files: wanted.slice(0, 1) });
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  const before = peakMiB(pid);
  if ((await put(files[0].url)) !== 200) throw new Error("The upload was refused");
  const peak = peakMiB(pid);
  const detail = `300 MiB arrive; the service's resident set goes from ${before.toFixed(0)} to ${peak.toFixed(0)} MiB at most`;
  const name = `storage: the service's whole memory while 300 MiB are uploaded / ${uploadMiBMax} MiB`;
  return { name, ratio: peak / uploadMiBMax, bound: 1, detail };
}

/** Benchmarks of file storage, with the local service in its own process. */
export async function benchStorage(): Promise<Measured[]> {
  const service = await startOnTable();
  const seed = JSON.parse(readFileSync(join(service.home, "local.json"), "utf8"));
  const table = DynamoDBDocumentClient.from(
    new DynamoDBClient({
      endpoint: service.table,
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    }),
  );
  const bench: Bench = { service, organizationId: seed.organizationId, storageId: seed.storageId, table };
  try {
    return [await benchUpload(bench), ...(await benchPrepare(bench)), await benchList(bench)];
  } finally {
    table.destroy();
    await service.stop();
    rmSync(service.home, { recursive: true, force: true });
  }
}
