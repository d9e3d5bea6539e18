import { randomUUID } from "node:crypto";
import { AnswerLost, type CallFault, runWithFault } from "../aws/call-faults.ts";
import { type AwsServer, startHttpServer } from "../aws/http-server.ts";
import { AwsError, jsonError, type RawRequest, type RawResponse, type RawService } from "../aws/service.ts";
import { sha256Hex } from "../aws/signature/canonical.ts";
import { verifySignature } from "../aws/signature/verify.ts";
import { type XmlElement, xmlDocument } from "../aws/xml.ts";
import { type StsOptions, stsCalls, type XmlFields } from "./operations.ts";

const apiVersion = "2011-06-15";
const namespace = `https://sts.amazonaws.com/doc/${apiVersion}/`;

const elementsOf = (fields: XmlFields): XmlElement[] =>
  Object.entries(fields).map(([name, value]) => [name, typeof value === "string" ? value : elementsOf(value)]);

function answer(status: number, root: string, content: XmlFields): RawResponse {
  return {
    status,
    headers: { "content-type": "text/xml" },
    body: xmlDocument(root, namespace, elementsOf(content)),
  };
}

function errorAnswer(error: unknown): RawResponse {
  const known = error instanceof AwsError ? error : new AwsError("InternalFailure", "An internal error occurred.", 500);
  const Type = known.status < 500 ? "Sender" : "Receiver";
  const fields = { Error: { Type, Code: known.code, Message: known.message }, RequestId: randomUUID() };
  return answer(known.status, "ErrorResponse", fields);
}

/** The form of an STS request; undefined for other services, which share the port and the path. */
function stsForm(request: RawRequest): URLSearchParams | undefined {
  if (request.method !== "POST" || request.path !== "/") return undefined;
  const scope = /Credential=[^,\s/]+\/\d+\/[^/]+\/([^/]+)\/aws4_request/.exec(request.headers.authorization ?? "");
  const isForm = (request.headers["content-type"] ?? "").startsWith("application/x-www-form-urlencoded");
  const form = new URLSearchParams(isForm ? request.body.toString("utf8") : "");
  if (scope) return scope[1] === "sts" ? form : undefined;
  return form.get("Version") === apiVersion && form.has("Action") ? form : undefined;
}

function run(request: RawRequest, form: URLSearchParams, options: StsOptions): RawResponse {
  const verdict = verifySignature(request, sha256Hex(request.body), {
    style: "sts",
    credentials: options.credentials,
    now: options.now ?? (() => new Date()),
  });
  if (!verdict.ok) throw new AwsError(verdict.code, verdict.message, verdict.status);
  const action = form.get("Action") ?? "";
  const respond = (result: XmlFields) =>
    answer(200, `${action}Response`, {
      [`${action}Result`]: result,
      ResponseMetadata: { RequestId: randomUUID() },
    });
  const call = Object.hasOwn(stsCalls, action) ? stsCalls[action] : undefined;
  if (!call) throw new AwsError("InvalidAction", `Could not find operation ${action} for version ${apiVersion}`, 400);
  return respond(call(verdict, form, options));
}

/** The error of STS for a fault; its throttling error has no "Exception" in its name. */
function faultError(fault: CallFault): AwsError {
  if (fault.kind === "refused") return new AwsError(fault.code, "The call was refused.");
  if (fault.kind === "failed") return new AwsError("InternalFailure", "The service failed.", 500);
  return new AwsError("Throttling", "Rate exceeded");
}

/** STS with its query protocol; requests without a valid signature get 403. */
export function stsService(options: StsOptions): RawService {
  return async (request) => {
    const form = stsForm(request);
    if (!form) return undefined;
    const input = form.toString();
    const fault = options.faults?.({ service: "STS", operation: form.get("Action") ?? "", input });
    try {
      return await runWithFault(fault, async () => run(request, form, options), faultError);
    } catch (error) {
      if (error instanceof AnswerLost) throw error;
      return errorAnswer(error);
    }
  };
}

const bodyBytesMax = 64 * 1024;

/**
 * Starts the server for deployed apps: STS and the credentials of their task. Its services authenticate callers
 * themselves. No other port accepts an app's credentials.
 */
export function startStsServer(services: RawService[], port = 0, address?: string): Promise<AwsServer> {
  return startHttpServer({
    port,
    address,
    bodyBytesMax,
    errorAnswer: jsonError,
    async handle({ method, path, query, headers, readBody }) {
      const request = { method, path, query, headers, body: await readBody() };
      for (const service of services) {
        const response = await service(request);
        if (response) return response;
      }
      throw new AwsError("UnknownOperationException", `${method} ${path} is not served here`, 404);
    },
  });
}
