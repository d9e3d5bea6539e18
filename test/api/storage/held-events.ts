import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { fileTransfers } from "../../../api/browser-transfers.ts";
import { startApiGateway } from "../../../local/api-gateway/server.ts";
import { startDynamoDb } from "../../../local/dynamodb/server.ts";
import { setEnvironment } from "../../../local/environment.ts";
import { createFunctions } from "../../../local/lambda/functions.ts";
import { names, region } from "../../../local/names.ts";
import { startS3 } from "../../../local/s3/server.ts";
import type { ObjectCreated } from "../../../local/s3/store/object-created.ts";
import { startStsServer, stsService } from "../../../local/sts/server.ts";
import { openCredentials } from "../../../local/sts/store.ts";
import { type DynamoProxy, startDynamoProxy } from "../../harness/dynamodb.ts";
import { type Answer, type CallOptions, callAt } from "../../harness/service.ts";
import { directTable, type Row } from "../faults/invariants.ts";
import { type S3Gate, startS3Gate } from "./s3-gate.ts";

/** The service's handlers on the embedded services, where the test delivers S3's events. */
export interface HeldEvents {
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** `/organizations/…/storages/…/files` */
  files: string;
  organizationId: string;
  /** `/organizations/…/projects/…` */
  project: string;
  storageId: string;
  /** The events of S3, in order; the test delivers them. */
  events: ObjectCreated[];
  deliver(event: ObjectCreated | undefined): Promise<void>;
  /** Moves the clock of S3 and STS, not the service's own. */
  clock: { aheadMs: number };
  /** The number of AssumeRole calls for the signer role. */
  assumed: { count: number };
  /** Called for every STS call; true makes it fail like the real one. */
  refuseSts: { now: boolean };
  table: DynamoProxy;
  rows(): Promise<Row[]>;
  s3: S3Gate;
  stop(): Promise<void>;
}

const made = z.object({ ok: z.literal(true), output: z.record(z.string(), z.looseObject({ id: z.any() })) });

/** One at a time: the handlers find its addresses in the environment of the process. */
export async function startHeldEvents(options: { versioned: boolean }): Promise<HeldEvents> {
  const home = mkdtempSync(join(tmpdir(), "slipway-storage-"));
  const functions = createFunctions(home);
  const clock = { aheadMs: 0 };
  const assumed = { count: 0 };
  const refuseSts = { now: false };
  const events: ObjectCreated[] = [];
  const now = () => new Date(Date.now() + clock.aheadMs);
  const credentials = openCredentials({ dir: join(home, "sts"), now });
  const dynamoDb = await startDynamoDb({ file: join(home, "table.db"), tableName: names.table });
  const table = await startDynamoProxy(dynamoDb.endpoint);
  const s3 = await startS3({
    dir: join(home, "s3"),
    credentials,
    region,
    buckets: [{ name: names.files, versioned: options.versioned, cors: fileTransfers }],
    onObjectCreated: async (event) => void events.push(event),
    now,
  });
  const gate = await startS3Gate(s3.endpoint);
  const sts = stsService({ credentials, now });
  const aws = await startStsServer([
    async (request) => {
      if (refuseSts.now) return { status: 503, body: "<ErrorResponse/>" };
      const answer = await sts(request);
      if (answer) assumed.count += 1;
      return answer;
    },
  ]);
  const direct = directTable(dynamoDb.endpoint);
  const gateway = await startApiGateway({ port: 0, functions });
  const baseUrl = `http://127.0.0.1:${gateway.port}`;
  setEnvironment({
    dynamoDb: table.endpoint,
    aws: aws.endpoint,
    sts: aws.endpoint,
    s3: gate.endpoint,
    baseUrl,
    root: credentials.root,
    healthTimeoutSeconds: 1,
    releaseTimeoutSeconds: 1,
  });
  const operator = async (command: string, input: object) =>
    made.parse(await functions.invoke("operator", { command, input })).output;

  const { organization } = await operator("create-organization", { name: "One" });
  const organizationId = String(organization?.id);
  const { project } = await operator("create-project", { organizationId, name: "One" });
  const { credential } = await operator("create-credential", { projectId: project?.id });
  const { storage } = await operator("create-storage", { organizationId, name: "One" });
  const storageId = String(storage?.id);
  const bearer = `${credential?.access}:${credential?.secret}`;
  return {
    call: (method, path, callOptions) => callAt(baseUrl, bearer, method, path, callOptions),
    files: `/organizations/${organizationId}/storages/${storageId}/files`,
    organizationId,
    project: `/organizations/${organizationId}/projects/${project?.id}`,
    storageId,
    events,
    deliver: async (event) => void (await functions.invoke("file-uploaded", event)),
    clock,
    assumed,
    refuseSts,
    table,
    rows: direct.rows,
    s3: gate,
    async stop() {
      await gateway.close();
      await aws.close();
      await gate.close();
      await s3.close();
      await table.close();
      direct.close();
      await dynamoDb.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
