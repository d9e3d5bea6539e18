import { AwsError, jsonError, type RawRequest, type RawResponse, type RawService } from "../aws/service.ts";
import { FunctionError, type Functions } from "./functions.ts";

/** The event of an invocation: any JSON value. */
function readPayload(body: Buffer): unknown {
  if (body.length === 0) return {};
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    // JSON.parse errors quote the event.
    const message = "Could not parse request body into json: it is not valid JSON";
    throw new AwsError("InvalidRequestContentException", message);
  }
}

/** Checks the options of Invoke; unsupported options are refused instead of ignored. */
function isDryRun({ headers, query }: RawRequest, name: string): boolean {
  const type = headers["x-amz-invocation-type"] ?? "RequestResponse";
  if (type !== "RequestResponse" && type !== "DryRun") {
    const message = "The local Lambda supports only the invocation types RequestResponse and DryRun";
    throw new AwsError("InvalidParameterValueException", message);
  }
  if ((headers["x-amz-log-type"] ?? "None") !== "None") {
    throw new AwsError("InvalidParameterValueException", "The local Lambda does not support LogType");
  }
  if ((query.get("Qualifier") ?? "$LATEST") !== "$LATEST") {
    throw new AwsError("ResourceNotFoundException", `Function not found: ${name}:${query.get("Qualifier")}`, 404);
  }
  return type === "DryRun";
}

const json = (body: unknown, headers: Record<string, string> = {}): RawResponse => ({
  status: 200,
  headers: { "content-type": "application/json", "x-amz-executed-version": "$LATEST", ...headers },
  body: JSON.stringify(body ?? null),
});

function nameOf(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new AwsError("InvalidParameterValueException", "The function's name is not URL-encoded");
  }
}

async function invoke(functions: Functions, name: string, request: RawRequest): Promise<RawResponse> {
  const dryRun = isDryRun(request, name);
  const event = readPayload(request.body);
  if (dryRun) {
    await functions.handler(name);
    return { status: 204 };
  }
  try {
    return json(await functions.invoke(name, event));
  } catch (error) {
    if (!(error instanceof FunctionError)) throw error;
    const fields = { errorType: error.errorType, errorMessage: error.message };
    return json(fields, { "x-amz-function-error": "Unhandled" });
  }
}

/** Lambda's Invoke over HTTP. */
export function lambdaService(functions: Functions): RawService {
  return async (request) => {
    const encoded = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(request.path)?.[1];
    if (encoded === undefined || request.method !== "POST") return undefined;
    try {
      return await invoke(functions, nameOf(encoded), request);
    } catch (error) {
      return jsonError(error);
    }
  };
}
