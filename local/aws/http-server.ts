import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { AnswerLost } from "./call-faults.ts";
import { AwsError, type RawRequest, type RawResponse } from "./service.ts";

/** A request whose body has not been read yet. */
export interface IncomingCall extends Omit<RawRequest, "body"> {
  /** Throws AwsError if the body is larger than `bodyBytesMax`. */
  readBody(): Promise<Buffer>;
}

export interface HttpServerOptions {
  port?: number;
  /** Default: 127.0.0.1. */
  address?: string | undefined;
  bodyBytesMax: number;
  handle(call: IncomingCall): Promise<RawResponse>;
  /** Converts the error of a refused or failed request to an answer in the protocol of this port. */
  errorAnswer(error: unknown): RawResponse;
}

export interface AwsServer {
  endpoint: string;
  port: number;
  close(): Promise<void>;
}

/**
 * Refuses requests of web pages in the user's browser. They have an Origin header, or the Host of a domain that resolves
 * to 127.0.0.1 (DNS rebinding); requests of SDKs have neither.
 */
function refuseBrowsers(request: IncomingMessage, { address, port }: AddressInfo): void {
  const { host, origin } = request.headers;
  if (origin !== undefined) throw new AwsError("AccessDeniedException", "Requests from web pages are refused.", 403);
  const own = [`${address}:${port}`, ...(address === "127.0.0.1" ? [`localhost:${port}`] : [])];
  // A client leaves out the default port.
  if (port === 80) own.push(address);
  if (!own.includes(host ?? "")) {
    throw new AwsError("AccessDeniedException", "The Host header names another server.", 403);
  }
}

async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const tooLarge = () =>
    new AwsError("RequestEntityTooLargeException", `A request has at most ${bytesMax} bytes.`, 413);
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function callOf(request: IncomingMessage, bodyBytesMax: number): IncomingCall {
  const [path = "/", query = ""] = (request.url ?? "/").split(/\?(.*)/s, 2);
  return {
    method: request.method ?? "GET",
    path,
    query: new URLSearchParams(query),
    headers: request.headers,
    readBody: () => readBody(request, bodyBytesMax),
  };
}

/** Starts an HTTP server on 127.0.0.1 or another address of this machine that refuses requests of web pages and limits the size of bodies. */
export async function startHttpServer(options: HttpServerOptions): Promise<AwsServer> {
  const server = createServer(async (request, response) => {
    let result: RawResponse;
    try {
      refuseBrowsers(request, server.address() as AddressInfo);
      result = await options.handle(callOf(request, options.bodyBytesMax));
    } catch (error) {
      if (error instanceof AnswerLost) return void request.socket.destroy();
      result = options.errorAnswer(error);
    }
    // If the body was not read completely, the connection is closed after the answer.
    if (!request.complete) response.setHeader("connection", "close");
    response.writeHead(result.status, { "x-amzn-requestid": randomUUID(), ...result.headers });
    response.end(result.body);
  });
  server.keepAliveTimeout = 60_000;
  const address = options.address ?? "127.0.0.1";
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, address, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://${address}${port === 80 ? "" : `:${port}`}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
