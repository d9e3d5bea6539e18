import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { type ErrorCode, errorTable } from "../../api/errors.ts";
import { limits } from "../../api/limits.ts";
import { newId } from "../../lambdas/table/ids.ts";
import type { Functions, Handler } from "../lambda/functions.ts";

import { addressOf, eventOf } from "./event.ts";
import { createRouter } from "./router.ts";

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    if (length <= limits.bodyBytesMax) chunks.push(chunk);
    length += chunk.length;
  }
  return length === 0 ? undefined : Buffer.concat(chunks);
}

const headerBytesMax = 64 * 1024;
const notHttp = `The request is not valid HTTP, or its headers have more than ${headerBytesMax} bytes.`;

/** An error of the gateway itself, in the common error format (docs/api.md). */
function ownError(code: ErrorCode, message: string, fields: object = {}) {
  const { status, title } = errorTable[code];
  const requestId = newId("req", new Date());
  return {
    status,
    title,
    headers: { "content-type": "application/json", "x-request-id": requestId },
    body: JSON.stringify({ status: title, message, code, requestId, ...fields }),
  };
}

export interface ApiGateway {
  port: number;
  close(): Promise<void>;
}

/** The time is longer than on AWS: the first use of a database creates it, which takes minutes on a slow machine. */
const newContext = () => ({ getRemainingTimeInMillis: () => 250_000 });

/** The public address of the local service: routes requests as API Gateway does and calls the same handlers as on AWS. */
export async function startApiGateway(options: { port: number; functions: Functions }): Promise<ApiGateway> {
  const route = createRouter();
  const handlers = new Map<string, Handler>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = route(request.method ?? "GET", addressOf(request).rawPath);
    const id = target?.id ?? "not-found";
    const body = await readBody(request);
    let handler = handlers.get(id);
    if (!handler) {
      handler = await options.functions.handler(id);
      handlers.set(id, handler);
    }
    const event = eventOf(request, body, target?.params ?? {});
    const result = (await handler(event, newContext())) as APIGatewayProxyStructuredResultV2;
    if (result.cookies) response.setHeader("set-cookie", result.cookies);
    response.writeHead(result.statusCode ?? 200, result.headers as Record<string, string>);
    const answer = Buffer.from(result.body ?? "", result.isBase64Encoded ? "base64" : "utf8");
    response.end(request.method === "HEAD" ? undefined : answer);
  }

  const server = createServer({ maxHeaderSize: headerBytesMax }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      const { status, headers, body } = ownError("internal", "Something went wrong on our side.");
      if (!response.headersSent) response.writeHead(status, headers);
      response.end(body);
    });
  });
  server.on("clientError", (_error, socket) => {
    const { status, title, headers, body } = ownError("invalid_request", notHttp, {
      issues: [{ path: "", message: "must be a complete HTTP/1.1 request" }],
    });
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `HTTP/1.1 ${status} ${title}\r\n${lines.join("")}content-length: ${Buffer.byteLength(body)}\r\n`;
    if (socket.writable) socket.end(`${head}connection: close\r\n\r\n${body}`);
    else socket.destroy();
  });
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
