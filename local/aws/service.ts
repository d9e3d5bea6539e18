import type { IncomingHttpHeaders } from "node:http";
import * as z from "zod";
import { errorFields, log } from "../../lambdas/http/log.ts";

/** An error of an AWS service; `code` becomes the name of the SDK's exception. */
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

/** Creates an operation that validates its input; invalid input is a ValidationException, as on AWS. */
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
  /** The eventually consistent reads, with their answer before the thing existed. */
  nothing?: Record<string, (input: unknown) => object>;
}

export interface RawRequest {
  method: string;
  /** The path as sent, without the query, not decoded. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
}
export interface RawResponse {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** A service of another protocol (REST, query); returns `undefined` for requests of other services. */
export type RawService = (request: RawRequest) => Promise<RawResponse | undefined>;

/** Converts a date to seconds since the epoch, the format of the AWS JSON protocols. */
export function epochSeconds(date: Date): number {
  return date.getTime() / 1000;
}

/** The error answer of the AWS JSON and REST-JSON protocols. */
export function jsonError(error: unknown): RawResponse {
  const known = error instanceof AwsError ? error : new AwsError("InternalFailure", "An internal error occurred.", 500);
  if (known !== error) log("error", "An embedded AWS service failed", errorFields(error));
  return {
    status: known.status,
    headers: { "x-amzn-errortype": known.code, "content-type": "application/x-amz-json-1.1" },
    body: JSON.stringify({ __type: known.code, message: known.message, ...known.fields }),
  };
}

/** Parses the input of a call: a JSON object, empty if there is no body. */
export function parseJson(body: Buffer): object {
  if (body.length === 0) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    // JSON.parse errors quote the input, so they are not passed on.
  }
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw new AwsError("SerializationException", "The request body is not a JSON object");
}
