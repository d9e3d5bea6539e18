import { type AwsServer, type IncomingCall, startHttpServer } from "./http-server.ts";
import {
  AwsError,
  type JsonService,
  jsonError,
  type Operation,
  parseJson,
  type RawResponse,
  type RawService,
} from "./service.ts";
import { sha256Hex } from "./signature/canonical.ts";
import { type Keys, refuseEarly, type VerifyOptions, verifySignature } from "./signature/verify.ts";

/** Above Lambda's payload limit, the largest limit of these services, to leave room for the encoding. */
const bodyBytesMax = 8 * 1024 * 1024;

export interface AwsServerOptions {
  json?: JsonService[];
  raw?: RawService[];
  /** Every request must be signed with one of these keys. */
  credentials: Keys;
  /** Whether a principal may call; default: every principal that `credentials` finds. */
  mayCall?(principalArn: string): boolean;
  region?: string;
  port?: number;
  /** The clock for the age of signatures. */
  now?(): Date;
}

async function answerJson(operations: Map<string, Operation>, target: string, body: Buffer): Promise<RawResponse> {
  const run = operations.get(target);
  if (!run) throw new AwsError("UnknownOperationException", `The local service does not support ${target}`);
  const output = await run(parseJson(body));
  return { status: 200, headers: { "content-type": "application/x-amz-json-1.1" }, body: JSON.stringify(output) };
}

/** Starts one HTTP server on 127.0.0.1 for several embedded services; SDK clients find it through AWS_ENDPOINT_URL. */
export async function startAwsServer(options: AwsServerOptions): Promise<AwsServer> {
  const operations = new Map<string, Operation>();
  for (const service of options.json ?? []) {
    for (const [name, run] of Object.entries(service.operations)) operations.set(`${service.target}.${name}`, run);
  }
  const { credentials, region, now = () => new Date() } = options;
  const verifying: VerifyOptions = { style: "json", credentials, now, ...(region !== undefined && { region }) };

  async function authenticatedBody(call: IncomingCall): Promise<Buffer> {
    const early = refuseEarly(call, verifying);
    if (early) throw new AwsError(early.code, early.message, early.status);
    const body = await call.readBody();
    const verdict = verifySignature(call, sha256Hex(body), verifying);
    if (!verdict.ok) throw new AwsError(verdict.code, verdict.message, verdict.status);
    if (options.mayCall?.(verdict.principalArn) === false) {
      throw new AwsError("AccessDeniedException", `${verdict.principalArn} may not call this service`, 403);
    }
    return body;
  }

  async function handle(call: IncomingCall): Promise<RawResponse> {
    const body = await authenticatedBody(call);
    const { method, path, query, headers } = call;
    const target = headers["x-amz-target"];
    if (typeof target === "string") return answerJson(operations, target, body);
    for (const raw of options.raw ?? []) {
      const response = await raw({ method, path, query, headers, body });
      if (response) return response;
    }
    throw new AwsError("UnknownOperationException", `${method} ${path} is not served here`, 404);
  }

  return startHttpServer({ port: options.port ?? 0, bodyBytesMax, handle, errorAnswer: jsonError });
}
