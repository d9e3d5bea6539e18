import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { S3Client } from "@aws-sdk/client-s3";
import { SignatureV4 } from "@smithy/signature-v4";
import { archiveTransfers, fileTransfers } from "../../../api/browser-transfers.ts";
import { type S3Options, type S3Server, startS3 } from "../../../local/s3/server.ts";
import type { ObjectCreated } from "../../../local/s3/store/object-created.ts";
import { type CredentialStore, openCredentials } from "../../../local/sts/store.ts";
import { Sha256 } from "../sts/sha256.ts";

export const region = "us-east-1";
export const buckets = [
  { name: "archives", versioned: true, cors: fileTransfers },
  { name: "plain", versioned: false },
  { name: "uploads", versioned: true, cors: archiveTransfers },
];

export interface Keys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface Fixture {
  dir: string;
  credentials: CredentialStore;
  server: S3Server;
  client: S3Client;
  events: ObjectCreated[];
  clock: { now: Date };
  stop(): Promise<void>;
}

/** A client of the real SDK with its default settings. */
export function clientFor(endpoint: string, keys: Keys): S3Client {
  return new S3Client({ endpoint, region, credentials: { ...keys }, forcePathStyle: true, maxAttempts: 1 });
}

export async function startFixture(options: Partial<S3Options> = {}): Promise<Fixture> {
  const dir = mkdtempSync(join(tmpdir(), "s3-"));
  // Signatures have whole seconds.
  const clock = { now: new Date(Math.floor(Date.now() / 1000) * 1000) };
  const credentials = openCredentials({ dir, now: () => clock.now });
  const events: ObjectCreated[] = [];
  const server = await startS3({
    dir: join(dir, "s3"),
    credentials,
    region,
    buckets,
    onObjectCreated: async (event) => void events.push(event),
    now: () => clock.now,
    ...options,
  });
  const client = clientFor(server.endpoint, credentials.root);
  const stop = async () => {
    client.destroy();
    await server.close();
    rmSync(dir, { recursive: true });
  };
  return { dir, credentials, server, client, events, clock, stop };
}

/** Waits for an effect right after an answer, such as the delivery of an event. */
export async function until<T>(look: () => T | undefined | false, what: string): Promise<T> {
  // A slow machine may take a minute to start a process; the time-out of the test ends this if it comes first.
  for (let i = 0; i < 6000; i++) {
    const found = look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`never happened: ${what}`);
}

export interface RawReply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  text: string;
}

/** One HTTP request as written, with nothing added and the path not normalized. */
export function raw(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: Buffer | string | Readable } = {},
): Promise<RawReply> {
  const { method = "GET", headers = {}, body } = options;
  const [, host = "", port = "", path = "/"] = /^http:\/\/([^:/]+):(\d+)(.*)$/s.exec(url) ?? [];
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host, port, path, method, headers, agent: false }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const received = Buffer.concat(chunks);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: received,
        text: received.toString(),
      });
    });
    outgoing.on("error", reject);
    if (typeof body === "object" && "pipe" in body) body.pipe(outgoing);
    else outgoing.end(body);
  });
}

export interface PresignInput {
  method?: string;
  path: string;
  query?: Record<string, string>;
  contentType?: string;
  headers?: Record<string, string>;
  expiresIn?: number;
  signingDate?: Date;
  keys?: Keys;
  signingRegion?: string;
  unsignedHeaders?: string[];
}

const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** The inputs of an address's signature. */
export interface Signing {
  server: { endpoint: string };
  credentials: CredentialStore;
  clock: { now: Date };
}

/** Signs an address with @smithy/signature-v4; the service's own addresses are equal to these. */
export async function presign(fixture: Signing, input: PresignInput): Promise<string> {
  const { hostname, port, host } = new URL(fixture.server.endpoint);
  const credentials =
    input.keys ??
    fixture.credentials.issue({
      roleArn: "arn:aws:iam::000000000000:role/signer",
      sessionName: "r1",
      durationSeconds: 3600,
    });
  const signer = new SignatureV4({
    credentials,
    region: input.signingRegion ?? region,
    service: "s3",
    sha256: Sha256,
    uriEscapePath: false,
  });
  const headers: Record<string, string> = { host, "x-amz-content-sha256": "UNSIGNED-PAYLOAD", ...input.headers };
  if (input.contentType !== undefined) headers["content-type"] = input.contentType;
  const signed = await signer.presign(
    {
      method: input.method ?? "GET",
      protocol: "http:",
      hostname,
      port: Number(port),
      path: input.path,
      query: input.query ?? {},
      headers,
    },
    {
      expiresIn: input.expiresIn ?? 3600,
      signingDate: input.signingDate ?? fixture.clock.now,
      signableHeaders: new Set(["content-type"]),
      unsignableHeaders: new Set(input.unsignedHeaders),
    },
  );
  const query = Object.entries(signed.query ?? {}).map(([name, value]) => `${encode(name)}=${encode(String(value))}`);
  return `${fixture.server.endpoint}${signed.path}?${query.join("&")}`;
}
