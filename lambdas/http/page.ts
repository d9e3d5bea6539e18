import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import middy from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { httpErrors } from "./errors.ts";
import { errorFields, logErrors } from "./log.ts";
import { Problem } from "./problem.ts";

/** A text with its headers. */
export interface PageContent {
  contentType: string;
  text: string;
  /** The text in brotli's format as base64, if it is known already. */
  brotli?: string;
  headers?: Readonly<Record<string, string>>;
}

interface Prepared extends PageContent {
  etag: string;
  encoded: Map<string, Promise<string>>;
}

const encoders: Record<string, (text: string) => Promise<Buffer>> = {
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
};

/** The best encoding that an Accept-Encoding header allows; undefined for none. */
function encodingOf(accept: string | undefined): string | undefined {
  const refused = /;\s*q=0(\.0*)?\s*$/;
  const accepted = (accept ?? "")
    .toLowerCase()
    .split(",")
    .filter((one) => !refused.test(one));
  const names = accepted.map((one) => one.split(";", 1)[0]?.trim());
  return Object.keys(encoders).find((name) => names.includes(name));
}

/** Whether an If-None-Match header names this version; weak comparison, because proxies weaken it (RFC 9110 §13.1.2). */
function isKnown(header: string | undefined, etag: string): boolean {
  return (header ?? "").split(",").some((one) => ["*", etag].includes(one.trim().replace(/^W\//, "")));
}

function prepare(content: PageContent): Prepared {
  const etag = `"${createHash("sha256").update(content.text).digest("base64url").slice(0, 27)}"`;
  const encoded = new Map<string, Promise<string>>();
  if (content.brotli !== undefined) encoded.set("br", Promise.resolve(content.brotli));
  return { ...content, etag, encoded };
}

async function respond(
  event: APIGatewayProxyEventV2,
  { contentType, text, etag, encoded, headers }: Prepared,
): Promise<APIGatewayProxyStructuredResultV2> {
  const shared = {
    etag,
    vary: "accept-encoding",
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
    "x-request-id": event.requestContext.requestId,
    ...headers,
  };
  if (isKnown(event.headers["if-none-match"], etag)) return { statusCode: 304, headers: shared };
  const encoding = encodingOf(event.headers["accept-encoding"]);
  const encode = encoding === undefined ? undefined : encoders[encoding];
  if (encoding === undefined || encode === undefined) {
    return { statusCode: 200, headers: { ...shared, "content-type": contentType }, body: text };
  }
  const body = encoded.get(encoding) ?? encode(text).then((bytes) => bytes.toString("base64"));
  encoded.set(encoding, body);
  return {
    statusCode: 200,
    headers: { ...shared, "content-type": contentType, "content-encoding": encoding },
    body: await body,
    isBase64Encoded: true,
  };
}

const failed = (error: unknown) => ({ message: "A page could not be rendered.", fields: errorFields(error) });

/**
 * Turns texts into a Lambda handler for API Gateway's HTTP API: compressed, and answered with 304 if the client has it.
 * `find` gives the same object for the same text, or throws; each object is hashed and compressed once per instance.
 */
export function pages(find: (event: APIGatewayProxyEventV2) => Promise<PageContent>) {
  const known = new WeakMap<PageContent, Prepared>();
  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(httpErrors())
    .use(logErrors((error) => (error instanceof Problem ? undefined : failed(error))))
    .handler(async (event) => {
      const content = await find(event);
      const prepared = known.get(content) ?? prepare(content);
      known.set(content, prepared);
      return respond(event, prepared);
    });
}

/** A handler for one text; `render` is called once per instance, and again after a failure. */
export function page(render: () => Promise<PageContent>) {
  let rendered: Promise<PageContent> | undefined;
  return pages(() => {
    rendered ??= render().catch((error: unknown) => {
      rendered = undefined;
      throw error;
    });
    return rendered;
  });
}
