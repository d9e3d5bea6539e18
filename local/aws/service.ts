import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as z from "zod";

/** An error as an AWS service words it; the SDK turns `code` into the exception's name. */
export class AwsError extends Error {
  readonly code: string;
  readonly status: number;
  readonly fields: Record<string, unknown>;

  constructor(code: string, message: string, status = 400, fields: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.fields = fields;
  }
}

export type Operation = (input: unknown) => Promise<object>;

/** Ties an operation to the schema of its input; what does not fit is a ValidationException, as in AWS. */
export function operation<S extends z.ZodType>(
  schema: S,
  run: (input: z.infer<S>) => Promise<object> | object,
): Operation {
  return async (input) => {
    const parsed = schema.safeParse(input);
    if (!parsed.success) throw new AwsError("ValidationException", z.prettifyError(parsed.error));
    return run(parsed.data);
  };
}

/** A service of the AWS JSON protocols: `X-Amz-Target: <target>.<operation>`. */
export interface JsonService {
  target: string;
  operations: Record<string, Operation>;
}

export interface RawRequest {
  method: string;
  /** The path as sent, without the query, not decoded. */
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
  body: Buffer;
}
export interface RawResponse {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** A service of another protocol (REST, query): it answers, or gives `undefined` when the request is not its own. */
export type RawService = (request: RawRequest) => Promise<RawResponse | undefined>;

/** AWS JSON protocols carry instants as seconds since the epoch. */
export function epochSeconds(date: Date): number {
  return date.getTime() / 1000;
}

/** The error answer of the AWS JSON and REST-JSON protocols. */
export function jsonError(error: unknown): RawResponse {
  const known = error instanceof AwsError ? error : new AwsError("InternalFailure", String(error), 500);
  return {
    status: known.status,
    headers: { "x-amzn-errortype": known.code, "content-type": "application/x-amz-json-1.1" },
    body: JSON.stringify({ __type: known.code, message: known.message, ...known.fields }),
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function answerJson(services: Map<string, Operation>, target: string, body: Buffer): Promise<RawResponse> {
  try {
    const run = services.get(target);
    if (!run) throw new AwsError("UnknownOperationException", `${target} is not part of the local service`);
    const output = await run(body.length > 0 ? JSON.parse(body.toString("utf8")) : {});
    return { status: 200, headers: { "content-type": "application/x-amz-json-1.1" }, body: JSON.stringify(output) };
  } catch (error) {
    return jsonError(error);
  }
}

export interface AwsServer {
  endpoint: string;
  port: number;
  close(): Promise<void>;
}

/** One HTTP server on 127.0.0.1 for all embedded services; SDK clients reach it through AWS_ENDPOINT_URL_<SERVICE>. */
export async function startAwsServer(services: {
  json?: JsonService[];
  raw?: RawService[];
  port?: number;
}): Promise<AwsServer> {
  const operations = new Map<string, Operation>();
  for (const service of services.json ?? []) {
    for (const [name, run] of Object.entries(service.operations)) operations.set(`${service.target}.${name}`, run);
  }

  const answer = async (request: IncomingMessage): Promise<RawResponse> => {
    const body = await readBody(request);
    const target = request.headers["x-amz-target"];
    if (typeof target === "string") return answerJson(operations, target, body);
    const url = new URL(request.url ?? "/", "http://local");
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    for (const raw of services.raw ?? []) {
      const response = await raw({
        method: request.method ?? "GET",
        path,
        query: url.searchParams,
        headers: request.headers,
        body,
      });
      if (response) return response;
    }
    return jsonError(new AwsError("UnknownOperationException", `${request.method} ${path} is not served here`, 404));
  };

  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const result = await answer(request).catch(jsonError);
    response.writeHead(result.status, { "x-amzn-requestid": randomUUID(), ...result.headers });
    response.end(result.body);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(services.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
